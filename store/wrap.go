package store

import "errors"

// wrap makes an *Error of what a backend returned, unless it is one already.
func wrap(op, key string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Op != "" {
			return err
		}
		return &Error{Op: op, Key: key, Kind: e.Kind, Err: e.Err}
	}
	return &Error{Op: op, Key: key, Kind: kindOf(err), Err: err}
}

func (s *Store) wrap(op, key string, err error) error { return wrap(op, key, err) }

// renamed gives an error the verb of the method that the caller used.
func (s *Store) renamed(op string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Op: op, Key: e.Key, Kind: e.Kind, Err: e.Err}
	}
	return err
}

// invalid is an error of kind ErrInvalid that wrap completes.
func invalid(cause error) error { return &Error{Kind: ErrInvalid, Err: cause} }
