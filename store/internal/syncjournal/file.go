// Package syncjournal remembers which bytes a file had, and which of them a store holds, in a local file: one line for
// each change, the last of a path wins. A line is the CRC-32C of the rest in hexadecimal, a space, JSON. What does not
// fit its sum is passed over: it costs a reading of the file that it was about, no more.
package syncjournal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
)

// File is an open journal. Safe for concurrent use by one process.
type File struct {
	path    string
	mu      sync.Mutex // guards what follows
	records map[string]Record
	f       *os.File
}

// Record is what is known of one file.
type Record struct {
	Path     string          `json:"path"` // slash path; a record without one is none
	Identity settle.Identity `json:"id"`   // that the file had when it was read
	Mode     uint32          `json:"mode,omitempty"`
	SHA256   string          `json:"sha256"` // hexadecimal; "" is not known
	CRC32C   uint32          `json:"crc32c"`
	Young    bool            `json:"young,omitempty"`   // a change since may not show in the identity
	Sent     bool            `json:"sent,omitempty"`    // the store held it
	Version  string          `json:"version,omitempty"` // of the object, once sent
	Gone     bool            `json:"gone,omitempty"`    // it was removed from the store

	// Elsewhere says that another process sent it, perhaps from another machine;
	// of the local file nothing is known then.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open reads what there is at path and writes it anew without what is outdated. The caller closes it.
func Open(path string) (*File, error) {
	j := &File{path: path, records: map[string]Record{}}
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(j.read(f), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return j, j.rewrite()
}

// read takes in every line that is whole.
func (j *File) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if rec, ok := parse(line); ok {
			j.records[rec.Path] = rec
			if rec.Gone {
				delete(j.records, rec.Path)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func parse(line []byte) (Record, bool) {
	var rec Record
	text, found := bytes.CutSuffix(line, []byte("\n"))
	sum, body, _ := bytes.Cut(text, []byte(" "))
	if !found || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) {
		return rec, false
	}
	err := json.Unmarshal(body, &rec)
	return rec, err == nil && rec.Path != ""
}

func (rec Record) line() []byte {
	body, _ := json.Marshal(rec) // holds nothing that could fail
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(body, castagnoli), body)
}

func (j *File) rewrite() error {
	var lines []byte
	for _, path := range slices.Sorted(maps.Keys(j.records)) {
		lines = append(lines, j.records[path].line()...)
	}
	part := j.path + ".new"
	if err := os.WriteFile(part, lines, 0o666); err != nil {
		return err
	}
	if err := os.Rename(part, j.path); err != nil {
		return err
	}
	var err error
	j.f, err = os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// Put remembers rec, or forgets its path if it is Gone. That it cannot be written is no harm but to a later process.
func (j *File) Put(rec Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.records[rec.Path] == rec {
		return nil
	}
	j.records[rec.Path] = rec
	if rec.Gone {
		delete(j.records, rec.Path)
	}
	_, err := j.f.Write(rec.line())
	return err
}

// Get is what is known of a path, if anything.
func (j *File) Get(path string) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec, ok := j.records[path]
	return rec, ok
}

// All is a copy of what is known, sorted by path.
func (j *File) All() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]Record, 0, len(j.records))
	for _, path := range slices.Sorted(maps.Keys(j.records)) {
		list = append(list, j.records[path])
	}
	return list
}

// Close lets go of the file; each record is written by then.
func (j *File) Close() error { return j.f.Close() }
