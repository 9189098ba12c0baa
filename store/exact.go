package store

import (
	"fmt"
	"io"
)

// exactReader fails where r yields less or more than was announced.
type exactReader struct {
	r    io.Reader
	left int64 // bytes still to come
	open bool  // any number is right
	err  error // the first error, of r or about its length
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case e.open && err == io.EOF:
		return n, err
	case !e.open && e.left < 0:
		e.err = invalid(fmt.Errorf("the source is longer than announced, by %d bytes or more", -e.left))
		return 0, e.err
	case err == io.EOF && e.left > 0:
		e.err = invalid(fmt.Errorf("the source ended %d bytes early", e.left))
		return 0, e.err
	case err != nil && err != io.EOF:
		e.err = err
	}
	return n, err
}
