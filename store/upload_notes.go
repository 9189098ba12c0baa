package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/journal"
)

const (
	uploadNotesEnd = ".upload"
	// oldJournal is after which time nobody is expected to go on with an upload.
	oldJournal = 7 * 24 * time.Hour
)

// uploadNotes say which parts of a file arrived. Nil notes nothing.
type uploadNotes struct {
	root    *os.Root
	file    *journal.File
	records []json.RawMessage // of an earlier try
	head    uploadHead
}

// uploadHead is the first record.
type uploadHead struct {
	Store    string    `json:"store"` // URL of its root
	Key      Key       `json:"key"`   // in that root
	Path     string    `json:"path"`  // absolute
	Size     int64     `json:"size_bytes"`
	PartSize int64     `json:"part_size_bytes"`
	Token    string    `json:"token"`
	ID       string    `json:"id"`
	Begun    time.Time `json:"begun"`
}

// partNote is each further one.
type partNote struct {
	N      int    `json:"n"`
	Size   int64  `json:"size_bytes"`
	CRC32C uint32 `json:"crc32c"`
	Tag    string `json:"tag,omitempty"`
}

// openUploadNotes opens the journal of a file and a key, nil where none is
// wanted or another process has it.
func (m *mover) openUploadNotes(src *source, key Key) (*uploadNotes, error) {
	if m.opts.JournalDir == "" {
		return nil, nil
	}
	path, err := filepath.Abs(src.path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.opts.JournalDir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(m.opts.JournalDir)
	if err != nil {
		return nil, err
	}
	n := &uploadNotes{root: root, head: uploadHead{
		Store: m.from, Key: Key(m.store.prefix) + key, Path: path, Size: src.size,
	}}
	n.file, n.records, err = journal.Open(root, n.head.name())
	if err != nil {
		root.Close()
		if errors.Is(err, journal.ErrLocked) {
			return nil, nil
		}
		return nil, err
	}
	return n, nil
}

// name is that of the journal, by the file and where it goes.
func (h uploadHead) name() string {
	sum := sha256.Sum256([]byte(h.Path + "\x00" + h.Store + "\x00" + string(h.Key)))
	return hex.EncodeToString(sum[:16]) + uploadNotesEnd
}

// rootURL names the place of a store, without the prefix of a Sub.
func (s *Store) rootURL() string {
	whole := &Store{core: s.core}
	return RedactURL(whole.KeyURL(""))
}

// old is the head that an earlier try left, or the zero value.
func (n *uploadNotes) old() (head uploadHead) {
	if n == nil || len(n.records) == 0 || json.Unmarshal(n.records[0], &head) != nil {
		return uploadHead{}
	}
	return head
}

// dropOld gives up the upload of an earlier try.
func (n *uploadNotes) dropOld(ctx context.Context, w *longWrite) error {
	head := n.old()
	if head.Token == "" {
		return nil
	}
	return w.store.abortUpload(ctx, w.back, w.key, w.full, head.Token)
}

// resume gives w the upload of an earlier try and returns its parts, nil if there
// is none that fits.
func (n *uploadNotes) resume(w *longWrite, partSize *int64) map[int]part {
	head := n.old()
	if head.Token == "" || head.Size != n.head.Size || head.PartSize <= 0 {
		return nil
	}
	parts := map[int]part{}
	for _, record := range n.records[1:] {
		var p partNote
		if json.Unmarshal(record, &p) == nil {
			parts[p.N] = part{size: p.Size, crc: p.CRC32C, tag: p.Tag}
		}
	}
	w.token, w.cond.id, w.resumed = head.Token, head.ID, true
	*partSize = head.PartSize
	return parts
}

// begun notes a new upload.
func (n *uploadNotes) begun(w *longWrite, partSize int64) error {
	if n == nil {
		return nil
	}
	if err := n.clear(); err != nil {
		return err
	}
	n.head.PartSize, n.head.Token, n.head.ID, n.head.Begun = partSize, w.token, w.cond.id, time.Now().UTC()
	return n.file.Append(n.head)
}

// arrived notes a part.
func (n *uploadNotes) arrived(number int, p part) error {
	if n == nil {
		return nil
	}
	return n.file.Append(partNote{N: number, Size: p.size, CRC32C: p.crc, Tag: p.tag})
}

func (n *uploadNotes) kept() bool { return n != nil }

// clear forgets an earlier try.
func (n *uploadNotes) clear() error {
	if n == nil {
		return nil
	}
	n.records = nil
	return n.file.Clear()
}

// remove ends the notes of a file that needs them no more.
func (n *uploadNotes) remove() error {
	if n == nil {
		return nil
	}
	return n.file.Remove()
}

// close lets go of them.
func (n *uploadNotes) close() {
	if n != nil {
		n.file.Close() // each note is written by then
		n.root.Close()
	}
}

// dropOldJournals gives up the uploads to this store that nobody went on with.
// What cannot be dropped now is left for another time.
func (m *mover) dropOldJournals(ctx context.Context) {
	entries, err := os.ReadDir(m.opts.JournalDir)
	if m.opts.JournalDir == "" || err != nil {
		return
	}
	root, err := os.OpenRoot(m.opts.JournalDir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), uploadNotesEnd) && time.Since(info.ModTime()) > oldJournal {
			m.dropJournal(ctx, root, e)
		}
	}
}

func (m *mover) dropJournal(ctx context.Context, root *os.Root, e fs.DirEntry) {
	file, records, err := journal.Open(root, e.Name())
	if err != nil {
		return
	}
	defer file.Close()
	var head uploadHead
	if len(records) > 0 && json.Unmarshal(records[0], &head) == nil {
		back, ok := m.store.back.(parted)
		if !ok || head.Store != m.from {
			return
		}
		if m.store.abortUpload(ctx, back, head.Key, string(head.Key), head.Token) != nil {
			return
		}
	}
	_ = file.Remove() // or next time
}
