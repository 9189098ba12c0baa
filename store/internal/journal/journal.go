// Package journal keeps notes in a local file, one JSON line each, so that work which a crash ended can go on. A line
// carries its own checksum; what stands behind a torn one is dropped. A journal belongs to one process at a time.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

// ErrLocked says that another has the journal open.
var ErrLocked = errors.New("in use by another")

// maxTries bounds how often a journal is opened again because its owner removed it meanwhile.
const maxTries = 100

// File is an open journal, locked. Safe for concurrent use.
type File struct {
	root *os.Root
	name string

	mu   sync.Mutex // guards file
	file *os.File   // nil once closed
}

// line is a record as it is stored.
type line struct {
	CRC32C uint32          `json:"crc32c"` // of the record's bytes
	Record json.RawMessage `json:"record"`
}

// Open opens the journal of that slash-separated name, or makes it, and returns what was noted. The error is ErrLocked
// while another has it. The caller ends it with Close or Remove; root stays open until then.
func Open(root *os.Root, name string) (*File, []json.RawMessage, error) {
	for range maxTries {
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, err
		}
		owned, err := own(root, name, f)
		if err != nil || !owned {
			if err = errors.Join(err, f.Close()); err != nil {
				return nil, nil, err
			}
			continue
		}
		records, err := load(f)
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		return &File{root: root, name: name, file: f}, records, nil
	}
	return nil, nil, ErrLocked
}

// own locks f; false says that it has lost its name meanwhile.
func own(root *os.Root, name string, f *os.File) (bool, error) {
	locked, err := filelock.Try(f)
	if err != nil {
		return false, err
	}
	if !locked {
		return false, ErrLocked
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, there), err
}

// load reads what is whole and cuts off the rest.
func load(f *os.File) ([]json.RawMessage, error) {
	body, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var records []json.RawMessage
	end := 0
	for text := range bytes.Lines(body) {
		record, ok := parse(text)
		if !ok {
			break
		}
		records = append(records, record)
		end += len(text)
	}
	if end == len(body) {
		return records, nil
	}
	return records, f.Truncate(int64(end))
}

func parse(text []byte) (json.RawMessage, bool) {
	var l line
	if !bytes.HasSuffix(text, []byte("\n")) || json.Unmarshal(text, &l) != nil {
		return nil, false
	}
	return l.Record, l.CRC32C == sum(l.Record)
}

func sum(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

// Append notes a record.
func (j *File) Append(record any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("note in %s: %w", path.Base(j.name), err)
	}
	text, err := json.Marshal(line{sum(data), data})
	if err != nil {
		return fmt.Errorf("note in %s: %w", path.Base(j.name), err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fs.ErrClosed
	}
	_, err = j.file.Write(append(text, '\n'))
	return err
}

// Clear forgets all records.
func (j *File) Clear() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fs.ErrClosed
	}
	return j.file.Truncate(0)
}

// Close lets go of the journal, which stays. It may be called again.
func (j *File) Close() error { return j.end(func() error { return nil }) }

// Remove removes the journal and closes it. After Close it does nothing.
func (j *File) Remove() error { return j.end(func() error { return j.root.Remove(j.name) }) }

func (j *File) end(do func() error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := errors.Join(do(), j.file.Close())
	j.file = nil
	return err
}
