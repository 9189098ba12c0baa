package dbfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const (
	// maxTries bounds how often a write makes its directory again because a concurrent Remove took it as empty, or
	// removes an object that others put in its place.
	maxTries = 100
	// maxLost bounds how often a move is tried whose answer is lost.
	maxLost = 3
)

// publish gives the closed temporary file its name by a move, which the workspace refuses where the name is taken. Where
// an answer is lost, the temporary file tells whether the move was applied: nobody else moves it.
func (d *dbfs) publish(ctx context.Context, temp, file string, mode dirtree.Mode) error {
	lost := 0
	for range maxTries {
		err := d.move(ctx, temp, file)
		if err == nil {
			return d.arrived(ctx, temp, file)
		}
		if errors.Is(err, dirtree.ErrUnavailable) {
			if lost++; lost > maxLost || wait(ctx, time.Duration(lost)*firstPause) != nil {
				return err
			}
		}
		again, err := d.explain(ctx, temp, file, mode, err, lost > 0)
		if !again {
			return err
		}
	}
	return &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("the file, or its directory, changed %d times", maxTries)}
}

func (d *dbfs) move(ctx context.Context, from, to string) error {
	return d.post(ctx, "move", struct {
		From string `json:"source_path"`
		To   string `json:"destination_path"`
	}{from, to}, nil)
}

// explain looks why a move failed: because an earlier try was applied, the name is taken, or the directory is missing,
// which it then makes to have the move tried again.
func (d *dbfs) explain(ctx context.Context, temp, file string, mode dirtree.Mode, refused error, unsure bool) (again bool, err error) {
	_, err = d.stat(ctx, temp)
	switch {
	case errors.Is(err, fs.ErrNotExist) && unsure:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: errors.New("the temporary file is gone")}
	case err != nil:
		return false, err
	case errors.Is(refused, dirtree.ErrUnavailable):
		return true, nil
	case errors.Is(refused, fs.ErrExist):
		return d.taken(ctx, file, mode, refused)
	case errors.Is(refused, fs.ErrNotExist):
		err := d.makeDir(ctx, path.Dir(file))
		return err == nil, err
	}
	return false, d.inTheWay(ctx, file, refused)
}

// taken decides about a name that exists: an object is removed to be replaced.
func (d *dbfs) taken(ctx context.Context, file string, mode dirtree.Mode, refused error) (again bool, err error) {
	info, err := d.status(ctx, file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mode == dirtree.Replace:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, d.inTheWay(ctx, file, refused)
	case err != nil:
		return false, err
	case info.IsDir:
		return false, invalid(syscall.EISDIR, refused)
	case mode == dirtree.Create:
		return false, refused
	}
	err = d.remove(ctx, file)
	return err == nil || errors.Is(err, fs.ErrNotExist), err
}

// arrived takes back what was moved into a directory that has the name of the file.
func (d *dbfs) arrived(ctx context.Context, temp, file string) error {
	info, err := d.status(ctx, file)
	if err != nil || !info.IsDir {
		return nil // replaced or deleted since, at worst
	}
	d.removeTemp(ctx, path.Join(file, path.Base(temp)))
	return invalid(syscall.EISDIR, errors.New(file))
}

// makeDir makes a directory and what is missing above it.
func (d *dbfs) makeDir(ctx context.Context, dir string) error {
	err := d.post(ctx, "mkdirs", pathAndRecursion{Path: dir}, nil)
	if errors.Is(err, fs.ErrExist) {
		return invalid(syscall.ENOTDIR, err)
	}
	return err
}

// inTheWay tells whether a directory has the name, or a file that of a directory, which the API answers in ways of its own.
func (d *dbfs) inTheWay(ctx context.Context, file string, refused error) error {
	e, ok := errors.AsType[*dirtree.Error](refused)
	if !ok || errors.Is(e.Kind, dirtree.ErrUnavailable) || errors.Is(e.Kind, fs.ErrPermission) {
		return refused
	}
	if info, err := d.status(ctx, file); err == nil && info.IsDir {
		return invalid(syscall.EISDIR, refused)
	}
	for dir := range dirtree.Above(path.Dir(file), d.root) {
		if info, err := d.status(ctx, dir); err == nil && !info.IsDir {
			return invalid(syscall.ENOTDIR, refused)
		}
	}
	return refused
}

// invalid is for a file or directory that stands in the way of another.
func invalid(number syscall.Errno, cause error) error {
	return &dirtree.Error{Kind: fs.ErrInvalid, Err: fmt.Errorf("%w (%s)", number, cause.Error())}
}
