package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	format           = 1
	maxEntries       = 1_000_000
	maxManifestBytes = 1 << 30
)

// manifestHead and manifestEntry are the stored form; see docs/format.md. Its
// fields are never changed, since the digest of a tree is that of these bytes.
type manifestHead struct {
	Format int   `json:"format"`
	Files  int   `json:"files"`
	Bytes  int64 `json:"size_bytes"`
}

type manifestEntry struct {
	Path   string       `json:"path"`
	Kind   Kind         `json:"type"`
	Mode   string       `json:"mode,omitempty"` // "0755"
	Size   *int64       `json:"size_bytes,omitempty"`
	SHA256 store.Digest `json:"sha256,omitempty"`
	Target string       `json:"target,omitempty"`
}

// encode writes one line of head and one for each entry, and sets the digest.
func (t *Tree) encode() error {
	var buffer bytes.Buffer
	out := json.NewEncoder(&buffer)
	out.SetEscapeHTML(false)
	err := out.Encode(manifestHead{Format: format, Files: t.Files, Bytes: t.Bytes})
	for _, e := range t.Entries {
		m := manifestEntry{Path: e.Path, Kind: e.Kind, SHA256: e.SHA256, Target: e.Target}
		if e.Kind != Link {
			m.Mode = fmt.Sprintf("%04o", e.Mode)
		}
		if e.Kind == File {
			m.Size = &e.Size
		}
		err = errors.Join(err, out.Encode(m))
	}
	t.manifest = buffer.Bytes()
	t.Digest = store.DigestOf(t.manifest)
	return err
}

// decode reads a manifest and holds it against every rule that a restored tree
// relies on. The error has kind store.ErrCorrupt.
func decode(body []byte, want store.Digest) (*Tree, error) {
	if got := store.DigestOf(body); got != want {
		return nil, corrupt(want, fmt.Errorf("its bytes have the SHA-256 %s", got))
	}
	t := &Tree{Digest: want, manifest: body}
	in := json.NewDecoder(bytes.NewReader(body))
	var head manifestHead
	if err := in.Decode(&head); err != nil {
		return nil, corrupt(want, err)
	}
	if head.Format != format {
		return nil, fmt.Errorf("workspace %s has the format %d, and this heirloom reads %d: %w", want, head.Format, format, store.ErrUnsupported)
	}
	check := newChecker()
	for {
		var m manifestEntry
		err := in.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		e, err2 := m.entry()
		if err = errors.Join(err, err2); err == nil {
			err = check.entry(e)
		}
		if err != nil {
			return nil, corrupt(want, err)
		}
		t.add(e)
	}
	if t.Files != head.Files || t.Bytes != head.Bytes {
		return nil, corrupt(want, fmt.Errorf("it announces %d files of %d bytes and lists %d of %d", head.Files, head.Bytes, t.Files, t.Bytes))
	}
	return t, nil
}

func (t *Tree) add(e Entry) {
	t.Entries = append(t.Entries, e)
	if e.Kind == File {
		t.Files++
		t.Bytes += e.Size
	}
}

func corrupt(digest store.Digest, err error) error {
	return &store.Error{Op: "read workspace", Key: string(Key(digest)), Kind: store.ErrCorrupt, Err: err}
}

func (m manifestEntry) entry() (Entry, error) {
	e := Entry{Path: m.Path, Kind: m.Kind, SHA256: m.SHA256, Target: m.Target}
	if m.Size != nil {
		e.Size = *m.Size
	}
	mode, err := strconv.ParseUint(m.Mode, 8, 32)
	switch {
	case m.Kind == Link && m.Mode == "":
	case err != nil || mode > 0o777:
		return e, fmt.Errorf("%q: %q is no mode", m.Path, m.Mode)
	}
	e.Mode = fs.FileMode(mode)
	file := m.Kind == File && m.Size != nil && e.Size >= 0 && m.Target == ""
	dir := m.Kind == Dir && m.Size == nil && m.SHA256 == "" && m.Target == ""
	link := m.Kind == Link && m.Size == nil && m.SHA256 == "" && m.Target != ""
	if !file && !dir && !link {
		return e, fmt.Errorf("%q is no file, directory or link as it should be", m.Path)
	}
	if digest, err := store.ParseDigest(string(m.SHA256)); file && (err != nil || digest != m.SHA256) {
		return e, fmt.Errorf("%q has no SHA-256", m.Path)
	}
	return e, nil
}

// checker holds a list of entries against the rules of a tree.
type checker struct {
	last  string
	count int
	dirs  map[string]bool
}

func newChecker() *checker { return &checker{dirs: map[string]bool{"": true}} }

// entry refuses what is out of order or leads out of the tree: each entry lies in
// a directory that was listed before it, and so never behind a link.
func (c *checker) entry(e Entry) error {
	dir, name := "", e.Path
	if i := strings.LastIndexByte(e.Path, '/'); i >= 0 {
		dir, name = e.Path[:i], e.Path[i+1:]
	}
	c.count++
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(e.Path+e.Target, "\x00"):
		return fmt.Errorf("%q is no path in a tree", e.Path)
	case !fs.ValidPath(e.Path) || !utf8.ValidString(e.Target):
		return fmt.Errorf("%q is no path in a tree", e.Path)
	case e.Path <= c.last:
		return fmt.Errorf("%q does not come after %q", e.Path, c.last)
	case !c.dirs[dir]:
		return fmt.Errorf("%q lies in no directory of the tree", e.Path)
	case c.count > maxEntries:
		return fmt.Errorf("there are more than %d entries", maxEntries)
	}
	if e.Kind == Dir {
		c.dirs[e.Path] = true
	}
	c.last = e.Path
	return nil
}
