package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
	"github.com/heirloom-ml/heirloom/store/internal/journal"
)

const (
	partStart = ".heirloom-"
	partEnd   = ".part"
	notesEnd  = ".notes"
)

// isPartName says whether name is that of an unfinished download, or of its
// notes.
func isPartName(name string) bool {
	return strings.HasPrefix(name, partStart) && (strings.HasSuffix(name, partEnd) || strings.HasSuffix(name, notesEnd))
}

// partFile is the file beside its target that a download is written to. It is
// locked, so that no other process writes to it.
type partFile struct {
	root  *os.Root
	dir   string // of the target, a slash path below root
	id    string
	file  *os.File      // nil once it is closed
	notes *journal.File // nil if it has none
}

// openPart opens the part file of that identity, with what an earlier process
// left in it, or a new one where another process is at work.
func openPart(root *os.Root, dir, identity string) (*partFile, error) {
	sum := sha256.Sum256([]byte(identity))
	p := &partFile{root: root, dir: dir, id: hex.EncodeToString(sum[:8])}
	for {
		f, err := root.OpenFile(p.name(partEnd), os.O_RDWR|os.O_CREATE|sourceFlags, 0o666)
		if err != nil {
			return nil, fmt.Errorf("write into %s: %w", filepath.Join(root.Name(), dir), err)
		}
		owned, err := ownPart(root, p.name(partEnd), f)
		if owned {
			p.file = f
			return p, nil
		}
		f.Close() // nothing was written to it
		if refusesPlaces(err) {
			return nil, errors.Join(err, root.Remove(p.name(partEnd))) // nobody else can have it either
		}
		if err != nil {
			return nil, err
		}
		p.id = newWriteID()[:16]
	}
}

// ownPart locks f and looks whether it still has its name.
func ownPart(root *os.Root, name string, f *os.File) (bool, error) {
	if locked, err := filelock.Try(f); err != nil || !locked {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := root.Lstat(name)
	if err != nil {
		return false, nil
	}
	return os.SameFile(info, there), nil
}

func (p *partFile) name(end string) string { return path.Join(p.dir, partStart+p.id+end) }

// publish gives the file its name, in place of another unless create.
func (p *partFile) publish(name string, create bool) error {
	from := p.name(partEnd)
	if !create {
		return p.root.Rename(from, name)
	}
	err := p.root.Link(from, name)
	if err == nil {
		return p.root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, statErr := p.root.Lstat(name); statErr == nil { // a file system without links
		return ErrExist
	}
	return p.root.Rename(from, name)
}

// drop removes it and its notes.
func (p *partFile) drop() error {
	err := p.root.Remove(p.name(partEnd))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was published
	}
	return errors.Join(err, p.dropNotes())
}

func (p *partFile) dropNotes() error {
	if p.notes == nil {
		return nil
	}
	return p.notes.Remove()
}

// close lets go of it; what was written stays.
func (p *partFile) close() error {
	if p.notes != nil {
		p.notes.Close() // each note is written by then
	}
	return p.closeFile()
}

func (p *partFile) closeFile() error {
	if p.file == nil {
		return nil
	}
	f := p.file
	p.file = nil
	return f.Close()
}
