package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// partLog says, while logs are written, how far they are in combined.log: its size, and
// how many bytes of stdout.log and stderr.log that is. Who comes to the end removes it; who
// is killed leaves it, and [Rests] goes by it.
const partLog = "combined.part"

func (c *combined) begin(out, err *stream) {
	c.streams = [2]*stream{out, err}
	c.note, _ = os.OpenFile(c.part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	c.tell()
}

// tell keeps how far it is; where that cannot be kept it is not told.
func (c *combined) tell() {
	if c.note != nil {
		_, _ = c.note.WriteAt(fmt.Appendf(nil, "%020d %020d %020d\n", c.file.size.Load(), c.streams[0].taken, c.streams[1].taken), 0)
	}
}

// whole says that combined.log has all there is.
func (c *combined) whole() {
	if c.note != nil {
		_, _ = c.note.Close(), os.Remove(c.part)
		c.note = nil
	}
}

// Rest is where to read on after the end of combined.log.
type Rest struct {
	Log string // stdout.log or stderr.log
	At  int64  // bytes
}

// Rests tells what combined.log in dir lacks because who wrote it was killed; nil if
// nothing. They follow each other in this order; the first goes on in the last line of
// combined.log, where that has no end. It must not be asked while logs are written.
func Rests(dir string) ([]Rest, error) {
	size, order, err := noted(dir)
	if order == nil || err != nil {
		return nil, err
	}
	added, err := readAt(filepath.Join(dir, combinedLog), size, 2*maxLine)
	if err != nil {
		return nil, err
	}
	if !order[0].skip(dir, added) && order[1].skip(dir, added) {
		order[0], order[1] = order[1], order[0]
	}
	var list []Rest
	for _, r := range order {
		if info, err := os.Stat(filepath.Join(dir, r.Log)); err == nil && info.Size() > r.At {
			list = append(list, r)
		}
	}
	return list, nil
}

// noted reads the note: the size of combined.log, and how much of the two others that is;
// no others where there is none.
func noted(dir string) (size int64, of []Rest, err error) {
	note, err := os.ReadFile(filepath.Join(dir, partLog))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	of = []Rest{{Log: stdoutLog}, {Log: stderrLog}}
	if err == nil {
		_, err = fmt.Sscanf(string(note), "%d %d %d\n", &size, &of[0].At, &of[1].At)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read %s: %w", filepath.Join(dir, partLog), err)
	}
	return size, of, nil
}

// skip passes over what was added to combined.log and not yet noted, if it is of this
// stream. The last line end may be none of the stream's.
func (r *Rest) skip(dir string, added []byte) bool {
	own, err := readAt(filepath.Join(dir, r.Log), r.At, int64(len(added)))
	if err != nil || len(added) == 0 {
		return false
	}
	switch {
	case bytes.Equal(own, added):
		r.At += int64(len(added))
	case added[len(added)-1] == '\n' && len(added) > 1 && bytes.HasPrefix(own, added[:len(added)-1]):
		r.At += int64(len(added)) - 1
	default:
		return false
	}
	return true
}

func readAt(file string, at, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.NewSectionReader(f, at, most))
}

// Mend completes each combined.log below dir that lacks something because who wrote it was
// killed. It must not be called while logs are written.
func Mend(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != partLog {
			return err
		}
		if err := mend(filepath.Dir(path)); err != nil {
			return fmt.Errorf("complete combined log: %w", err)
		}
		return os.Remove(path)
	})
}

// mend writes what comes after the noted size anew, so that it may be killed too.
func mend(dir string) error {
	size, rests, err := noted(dir)
	if err != nil {
		return err
	}
	both, err := os.OpenFile(filepath.Join(dir, combinedLog), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	err = both.Truncate(size)
	for i := range rests {
		if err == nil {
			err = rests[i].appendTo(both, dir)
		}
	}
	return errors.Join(err, both.Sync(), both.Close())
}

// appendTo copies the rest, with an end for its last line.
func (r Rest) appendTo(both *os.File, dir string) error {
	f, err := os.Open(filepath.Join(dir, r.Log))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(r.At, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(both, f)
	if err != nil || n == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, r.At+n-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = both.Write([]byte{'\n'})
	return err
}
