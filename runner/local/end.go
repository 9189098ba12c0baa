package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// reserveFile has room for the record of the end, so that a disk that fills up while
// the app runs does not take away how it ended.
const reserveFile = "end.reserved"

const endSize = 1 << 10 // bytes for a replica, and eight times for the rest

func (l launch) reserveEnd(replicas int) error {
	room := bytes.Repeat([]byte{' '}, (replicas+8)*endSize)
	return stateError(os.WriteFile(l.path(reserveFile), room, 0o600))
}

// writeEnd keeps how the app ended: in the room for it, which then gets the name.
func (l launch) writeEnd(e end) error {
	for i := range e.Replicas {
		e.Replicas[i].Error = store.Redact(e.Replicas[i].Error)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return stateError(err)
	}
	body = append(body, '\n')
	if l.fillReserve(body) == nil {
		return nil
	}
	if err := runner.WriteFile(l.path(endFile), body, true); err != nil {
		return stateError(err)
	}
	_ = os.Remove(l.path(reserveFile))
	return nil
}

func (l launch) fillReserve(body []byte) error {
	f, err := os.OpenFile(l.path(reserveFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < int64(len(body)) {
		err = errors.ErrUnsupported
	}
	if err == nil {
		_, err = f.WriteAt(body, 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(body)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), l.path(endFile))
	}
	if err != nil {
		return err
	}
	if d, err := os.Open(l.dir); err == nil {
		_ = d.Sync() // some systems refuse it for directories
		_ = d.Close()
	}
	return nil
}

// stateError says that state could not be kept, with the kind of the reason; nil of nil.
func stateError(err error) error {
	kinds := []struct {
		reason, kind error
	}{
		{syscall.ENOSPC, store.ErrNoSpace}, {syscall.EDQUOT, store.ErrNoSpace},
		{fs.ErrPermission, store.ErrPermission}, {syscall.EROFS, store.ErrPermission},
	}
	for _, k := range kinds {
		if errors.Is(err, k.reason) {
			return &keepError{err, k.kind}
		}
	}
	if err == nil {
		return nil
	}
	return &keepError{err, err}
}

// keepError is a reason why state is not kept.
type keepError struct{ reason, kind error }

func (e *keepError) Error() string   { return "keep state of local app: " + e.reason.Error() }
func (e *keepError) Unwrap() []error { return []error{e.reason, e.kind} }
