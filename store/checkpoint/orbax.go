package checkpoint

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// The names of Orbax's files (orbax/checkpoint/_src: path/atomicity_types.py, metadata/checkpoint.py).
const (
	orbaxTemp     = ".orbax-checkpoint-tmp"
	orbaxCommit   = "commit_success.txt"
	orbaxStep     = "_CHECKPOINT_METADATA"
	orbaxItem     = "_METADATA"
	orbaxManifest = "manifest.ocdbt"
)

// orbax takes a directory with one of Orbax's markers, and those that it writes before it renames them.
func (f *finder) orbax(d *dir) *draft {
	name, _, unfinished := strings.Cut(d.name(), orbaxTemp)
	items := slices.ContainsFunc(d.subs(), func(sub *dir) bool { return sub.has(orbaxItem) && !strings.Contains(sub.name(), orbaxTemp) })
	marked := unfinished || d.has(orbaxStep) || d.has(orbaxCommit) || d.has(orbaxManifest)
	if !marked && (!items || natural(d.name()) < 0) {
		return nil
	}
	found := &draft{Checkpoint: Checkpoint{Format: Orbax, Step: stepIn(name)}}
	for _, marker := range []string{orbaxCommit, orbaxStep} {
		if d.has(marker) {
			found.markers = append(found.markers, d.key.Join(marker))
		}
	}
	found.check = func(ctx context.Context) error {
		if unfinished {
			return notWhole("its name says that it is being written")
		}
		return f.checkOrbax(ctx, d, found)
	}
	return found
}

// orbaxMetadata is _CHECKPOINT_METADATA, as far as it matters.
type orbaxMetadata struct {
	Items   any               `json:"item_handlers"` // by name, or one handler for the directory itself
	Metrics map[string]number `json:"metrics"`
	Commit  *int64            `json:"commit_timestamp_nsecs"`
}

func (f *finder) checkOrbax(ctx context.Context, d *dir, found *draft) error {
	if !d.has(orbaxStep) {
		return notWhole("%s is missing", orbaxStep)
	}
	var m orbaxMetadata
	if err := readJSON(f.object(ctx, d.files[orbaxStep]), &m); err != nil {
		return err
	}
	committed := d.has(orbaxCommit)
	switch {
	case !committed && !f.local:
		return notWhole("%s is missing", orbaxCommit)
	case !committed && (m.Commit == nil || *m.Commit == 0):
		return notWhole("%s tells of no commit", orbaxStep)
	}
	found.Metrics = floats(m.Metrics)
	items, composite := m.Items.(map[string]any)
	if !composite {
		return f.checkOrbaxItem(ctx, d, committed)
	}
	for _, name := range sortedKeys(items) {
		sub := d.dirs[name]
		if sub == nil {
			return notWhole("the item %s is missing", name)
		}
		if err := f.checkOrbaxItem(ctx, sub, committed); err != nil {
			return err
		}
	}
	return orbaxLeftovers(d, committed)
}

// orbaxLeftovers looks at the items that the metadata do not name: of a newer version all are committed or none.
func orbaxLeftovers(d *dir, committed bool) error {
	for _, sub := range d.subs() {
		if strings.Contains(sub.name(), orbaxTemp) {
			return notWhole("%s is being written", sub.name())
		}
		if !committed && sub.has(orbaxCommit) {
			return notWhole("%s is missing", orbaxCommit)
		}
	}
	return nil
}

// checkOrbaxItem checks the directory of an item. Those of JSON and the like have no _METADATA.
func (f *finder) checkOrbaxItem(ctx context.Context, d *dir, committed bool) error {
	arrays := d.has(orbaxItem) || d.has(orbaxManifest) || len(d.dirs) > 0
	siblings := d.parent != nil && slices.ContainsFunc(d.parent.subs(), func(sub *dir) bool { return sub.has(orbaxCommit) })
	switch {
	case committed && siblings && !d.has(orbaxCommit):
		return notWhole("%s/%s is missing", d.name(), orbaxCommit)
	case arrays && !d.has(orbaxItem):
		return notWhole("%s/%s is missing", d.name(), orbaxItem)
	case len(d.files) == 0, len(d.files) == 1 && d.has(orbaxCommit):
		return notWhole("%s is empty", d.name())
	}
	if d.has(orbaxItem) {
		var any map[string]any
		if err := readJSON(f.object(ctx, d.files[orbaxItem]), &any); err != nil {
			return err
		}
		if useOCDBT, _ := any["use_ocdbt"].(bool); useOCDBT && !d.has(orbaxManifest) {
			return notWhole("%s/%s is missing", d.name(), orbaxManifest)
		}
	}
	return f.checkOCDBT(ctx, d)
}

// checkOCDBT checks the manifests of the databases in d and in the directories of its processes, and that no file of
// theirs is empty.
func (f *finder) checkOCDBT(ctx context.Context, d *dir) error {
	for _, sub := range d.subs() {
		if strings.HasPrefix(sub.name(), "ocdbt.process_") {
			if !sub.has(orbaxManifest) {
				return notWhole("%s/%s is missing", sub.name(), orbaxManifest)
			}
			if err := f.checkOCDBT(ctx, sub); err != nil {
				return err
			}
		}
	}
	manifest, ok := d.files[orbaxManifest]
	if !ok {
		return nil
	}
	for _, o := range d.all() {
		if o.Size == 0 {
			return notWhole("%s is empty", o.Key.Base())
		}
	}
	if d.dirs["d"] == nil {
		return notWhole("%s/d is missing", d.name())
	}
	return f.checkManifest(ctx, manifest)
}

// checkManifest compares the length that a manifest tells with its own (TensorStore, OCDBT storage format).
func (f *finder) checkManifest(ctx context.Context, o store.Object) error {
	head := make([]byte, 12)
	if o.Size < int64(len(head)) {
		return notWhole("%s ends within its header", o.Key.Base())
	}
	if _, err := f.object(ctx, o).ReadAt(head, 0); err != nil {
		return err
	}
	if !bytes.Equal(head[:4], []byte{0x0c, 0xdb, 0x3a, 0x2a}) {
		return notWhole("%s does not begin as a manifest", o.Key.Base())
	}
	if told := binary.LittleEndian.Uint64(head[4:]); told != uint64(o.Size) {
		return notWhole("%s has %d bytes of %d", o.Key.Base(), o.Size, told)
	}
	return nil
}
