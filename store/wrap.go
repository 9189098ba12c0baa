package store

import (
	"errors"
	"fmt"
	"io/fs"
)

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
	kind := kindOf(err)
	if errors.Is(kind, ErrExist) {
		return &Error{Op: op, Key: key, Kind: kind, Err: briefError{"it is there already", err}} // providers tell of their conditions
	}
	return &Error{Op: op, Key: key, Kind: kind, Err: explained(plainPath(key, err))}
}

// plainPath drops what package os says of the path where the Error says it too.
func plainPath(key string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == key && p.Error() == err.Error() {
		return p.Err
	}
	return err
}

// remote is a backend with a far side to name in errors.
type remote interface {
	endpoint() string // "" for the provider's own
}

// wrap names the far side where it does not answer, or knows no such bucket.
func (s *Store) wrap(op, key string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Op != "" {
		return err
	}
	err = wrap(op, key, err)
	r, isRemote := s.back.(remote)
	e, ok := errors.AsType[*Error](err)
	if !ok || !isRemote || e.Err == nil {
		return err
	}
	where := r.endpoint()
	switch {
	case noBucket(e.Err) && where != "":
		e.Err = briefError{fmt.Sprintf("%s has no bucket %s", where, s.place.root), e.Err}
	case noBucket(e.Err):
		e.Err = briefError{"there is no bucket " + s.place.root, e.Err}
	case errors.Is(e.Kind, ErrUnavailable) && where != "":
		e.Err = fmt.Errorf("%s is unavailable: %w", where, e.Err)
	}
	return e
}

// renamed gives an error the verb of the method that the caller used.
func (s *Store) renamed(op string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Op: op, Key: e.Key, Kind: e.Kind, Err: e.Err}
	}
	return err
}

// invalid is an error of kind ErrInvalid that wrap completes.
func invalid(cause error) error { return &Error{Kind: ErrInvalid, Err: cause} }
