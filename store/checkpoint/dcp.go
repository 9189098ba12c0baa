package checkpoint

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// The names of torch.distributed.checkpoint's files (torch/distributed/checkpoint/filesystem.py).
const (
	dcpMetadata = ".metadata"
	dcpTemp     = ".metadata.tmp"
)

var distcp = pattern.Lazy(`^__\d+_\d+\.distcp$`)

// dcp takes the files right in d.
func (f *finder) dcp(d *dir) *draft {
	data := false
	for name := range d.files {
		data = data || distcp().MatchString(name)
	}
	if !data && !d.has(dcpMetadata) && !d.has(dcpTemp) {
		return nil
	}
	found := &draft{Checkpoint: Checkpoint{Format: DCP, Step: stepOf(d.key, "")}}
	if d.has(dcpMetadata) {
		found.markers = []store.Key{d.key.Join(dcpMetadata)}
	}
	found.check = func(ctx context.Context) error { return f.checkDCP(ctx, d) }
	return found
}

// checkDCP wants every file of the metadata to reach as far as they say. Where the writer itself is watched, none may
// be younger than the metadata, which come last: whoever writes the same directory again replaces them only at the end.
func (f *finder) checkDCP(ctx context.Context, d *dir) error {
	switch marker, ok := d.files[dcpMetadata]; {
	case d.has(dcpTemp):
		return notWhole("%s is being written", dcpTemp)
	case !ok:
		return notWhole("%s is missing", dcpMetadata)
	case marker.Size > maxText:
		return notWhole("%s has %d bytes, more than are looked at", dcpMetadata, marker.Size)
	}
	marker := d.files[dcpMetadata]
	wanted, err := extents(io.NewSectionReader(f.object(ctx, marker), 0, marker.Size))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errPickle):
		return notWhole("%s: it cannot be looked through: %v", dcpMetadata, err)
	case err != nil:
		return err
	case len(wanted) == 0:
		return notWhole("%s names no files", dcpMetadata)
	}
	for _, name := range sortedKeys(wanted) {
		if err := f.reaches(d, name, wanted[name]); err != nil {
			return err
		}
	}
	for _, name := range d.names() {
		if distcp().MatchString(name) {
			if err := f.notAfter(d.files[name], marker); err != nil {
				return err
			}
		}
	}
	return nil
}

// reaches wants a file of d to have at least size bytes.
func (f *finder) reaches(d *dir, name string, size int64) error {
	if strings.ContainsAny(name, `/\`) {
		return notWhole("%s names %q, which is no file beside it", dcpMetadata, name)
	}
	o, ok := d.files[name]
	if !ok {
		return notWhole("%s is missing", name)
	}
	if o.Size < size {
		return notWhole("%s has %d bytes of %d", name, o.Size, size)
	}
	return nil
}

// notAfter wants a file to be no younger than the marker that is written after it. It asks so only where the times
// are the writer's own.
func (f *finder) notAfter(o, marker store.Object) error {
	if f.local && o.Modified.After(marker.Modified) {
		return notWhole("%s is younger than %s, which is written last", o.Key.Base(), marker.Key.Base())
	}
	return nil
}
