package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
	"github.com/heirloom-ml/heirloom/store/internal/syncjournal"
)

// manifestFile is the form in which the store says what was mirrored, the last
// thing written in a pass.
type manifestFile struct {
	Format  int             `json:"format"` // 1
	Replica string          `json:"replica,omitempty"`
	Files   []manifestEntry `json:"files"` // sorted by path
}

// manifestEntry is one mirrored file.
type manifestEntry struct {
	Path    string      `json:"path"` // slash path relative to the directory of the run
	Size    int64       `json:"size"` // bytes
	SHA256  Digest      `json:"sha256"`
	CRC32C  string      `json:"crc32c"`  // 8 hexadecimal digits
	Version string      `json:"version"` // of the object; "" while a replica is about to send it
	Mode    fs.FileMode `json:"mode"`    // permissions, as a number
	ModTime time.Time   `json:"mtime"`   // of the local file
}

// manifest is what one says, by path.
type manifest map[string]manifestEntry

// SyncManifest is the key of the manifest that a Sync of that replica writes
// below prefix: JSON that lists path, size, sha256, crc32c, version, mode and
// mtime of each file.
func SyncManifest(prefix Key, replica string) Key {
	if replica == "" {
		return prefix.Join(ownDir, "manifest.json")
	}
	return prefix.Join(ownDir, "manifests", EncodeRun(replica)+".json")
}

// manifestRecord is the name under which the journal keeps the manifest itself.
const manifestRecord = ownDir + "/manifest"

// readManifest fetches our manifest, unless it is the one that we wrote last.
func (p *syncPass) readManifest(ctx context.Context) error {
	key := SyncManifest(p.prefix, p.opts.Replica)
	obj, there := p.objects[key]
	rec, _ := p.journal.Get(manifestRecord)
	if !there || rec.Version == obj.Version {
		return nil
	}
	body, err := p.store.Get(ctx, key)
	if err != nil {
		if errors.Is(err, ErrNotExist) {
			return nil
		}
		return err
	}
	_, files := parseManifest(body)
	p.adopt(files)
	p.noteManifest(body, obj.Version)
	return nil
}

// adopt notes what others sent, so that it is not sent again and stays in the
// manifest.
func (p *syncPass) adopt(files manifest) {
	for _, e := range files {
		rec, _ := p.journal.Get(e.Path)
		obj, there := p.objects[p.key(e.Path)]
		if !there || obj.Version != e.Version || rec.Sent && rec.Version == e.Version {
			continue
		}
		crc, _ := strconv.ParseUint(e.CRC32C, 16, 32) // 0 of what is none, and the bytes are named by SHA256
		_ = p.journal.Put(syncjournal.Record{
			Path: e.Path, Identity: settle.Identity{Size: e.Size, Modified: e.ModTime.UnixNano()}, Mode: uint32(e.Mode),
			SHA256: string(e.SHA256), CRC32C: uint32(crc), Young: true, Sent: true, Version: e.Version, Elsewhere: true,
		})
	}
}

// parseManifest reads one; of what is none nothing is known, which costs time
// and no more.
func parseManifest(body []byte) (replica string, known manifest) {
	var file manifestFile
	if err := json.Unmarshal(body, &file); err != nil || file.Format != 1 {
		return "", nil
	}
	known = manifest{}
	for _, e := range file.Files {
		known[e.Path] = e
	}
	return file.Replica, known
}

func (p *syncPass) noteManifest(body []byte, version string) {
	_ = p.journal.Put(syncjournal.Record{Path: manifestRecord, SHA256: string(DigestOf(body)), Version: version})
}

// writeManifest says what the store holds, and what is about to be sent, if that
// differs from what was said last.
func (p *syncPass) writeManifest(ctx context.Context, about []*syncItem) error {
	body := p.manifest(about)
	key := SyncManifest(p.prefix, p.opts.Replica)
	rec, said := p.journal.Get(manifestRecord)
	obj, there := p.objects[key]
	empty := !said && !there && !bytes.Contains(body, []byte(`"path"`))
	if empty || there && rec.SHA256 == string(DigestOf(body)) && rec.Version == obj.Version {
		return nil
	}
	obj, err := p.store.PutFrom(ctx, key, bytes.NewReader(body), int64(len(body)))
	if err == nil && obj.Version == "" {
		obj, err = p.store.Stat(ctx, key)
	}
	if err != nil {
		return err
	}
	p.listed = true
	p.objects[key] = obj
	p.noteManifest(body, obj.Version)
	return nil
}

// manifest renders what the journal knows to be in the store.
func (p *syncPass) manifest(about []*syncItem) []byte {
	entries := manifest{}
	for _, rec := range p.journal.All() {
		if rec.Sent && p.stands(rec) {
			entries[rec.Path] = entryOf(rec)
		}
	}
	for _, item := range about {
		entries[item.path] = entryOf(p.record(item))
	}
	file := manifestFile{Format: 1, Replica: p.opts.Replica, Files: []manifestEntry{}}
	for _, e := range entries {
		file.Files = append(file.Files, e)
	}
	slices.SortFunc(file.Files, func(a, b manifestEntry) int { return strings.Compare(a.Path, b.Path) })
	body, _ := json.MarshalIndent(file, "", " ") // holds nothing that could fail
	return append(body, '\n')
}

func entryOf(rec syncjournal.Record) manifestEntry {
	return manifestEntry{
		Path: rec.Path, Size: rec.Identity.Size, SHA256: Digest(rec.SHA256), CRC32C: fmt.Sprintf("%08x", rec.CRC32C),
		Version: rec.Version, Mode: fs.FileMode(rec.Mode), ModTime: time.Unix(0, rec.Identity.Modified).UTC(),
	}
}

// stands says whether the object that was sent is there: it was listed, or sent
// since. Of what was lost the journal is told.
func (p *syncPass) stands(rec syncjournal.Record) bool {
	obj, there := p.objects[p.key(rec.Path)]
	return there && obj.Version == rec.Version
}
