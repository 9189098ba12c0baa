//go:build !linux

package groupsync

import "errors"

// flushAll has no form that waits.
func flushAll([]entry) error { return errors.ErrUnsupported }
