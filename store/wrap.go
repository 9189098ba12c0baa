package store

import (
	"errors"
	"fmt"
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
	return &Error{Op: op, Key: key, Kind: kindOf(err), Err: brief(err)}
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
	r, isRemote := s.back.(remote)
	e, ok := wrap(op, key, err).(*Error)
	if !ok || !isRemote || e.Err == nil {
		return wrap(op, key, err)
	}
	where := r.endpoint()
	switch {
	case noBucket(e.Err) && where != "":
		e.Err = briefError{fmt.Sprintf("%s has no bucket %s", where, s.place.root), e.Err}
	case noBucket(e.Err):
		e.Err = briefError{"there is no bucket " + s.place.root, e.Err}
	case e.Kind == ErrUnavailable && where != "":
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
