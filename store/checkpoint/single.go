package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/internal/intact"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// settled is how long a local file must have been left alone to count as whole where its format does not tell.
const settled = time.Minute

// maxPointer is how long a file that names checkpoints can be, in bytes.
const maxPointer = 1 << 20

// fileFormat is a kind of checkpoint that is one file.
type fileFormat struct {
	format Format
	exts   []string
}

// fileFormats lists them. A .ckpt of Lightning's naming is Lightning's.
func fileFormats() []fileFormat {
	return []fileFormat{
		{Torch, []string{".pt", ".pth", ".ckpt", ".bin"}},
		{Safetensors, []string{".safetensors"}},
		{Keras, []string{".h5", ".hdf5", ".keras"}},
		{NumPy, []string{".npz"}},
		{ONNX, []string{".onnx"}},
		{GGUF, []string{".gguf"}},
		{Plain, []string{".msgpack", ".pkl", ".joblib"}},
	}
}

var (
	lightningName = pattern.Lazy(`^(?:last(?:-v\d+)?|.*(?:epoch|step)=\d+.*)\.ckpt$`)
	saysSo        = pattern.Lazy(`(?i)checkpoint|ckpt|epoch|(?:^|[^a-z])(?:step|iter)`)
	dirSaysSo     = pattern.Lazy(`(?i)^(?:checkpoint|ckpt)s?$`)
)

// singles takes the files of d that are checkpoints by themselves, but for those that are parts of another.
func (f *finder) singles(d *dir, parts map[string]bool) {
	for _, name := range d.names() {
		format, ext := f.formatOf(name)
		if format == "" || parts[name] || !f.wanted(d, name) {
			continue
		}
		o := d.files[name]
		found := &draft{Checkpoint: Checkpoint{Path: o.Key, Format: format, Step: stepOf(o.Key, ext), Dir: d.key, Metrics: metricsIn(strings.TrimSuffix(name, ext)), markers: []store.Key{o.Key}}}
		found.check = func(ctx context.Context) error { return f.alone(ctx, o) }
		found.take([]store.Object{o})
		f.drafts = append(f.drafts, found)
	}
}

func (f *finder) formatOf(name string) (Format, string) {
	ext := path.Ext(name)
	switch {
	case name == f.filename(), name == "checkpoint":
		return Horovod, ext
	case lightningName().MatchString(name):
		return Lightning, ext
	}
	for _, known := range fileFormats() {
		if slices.Contains(known.exts, strings.ToLower(ext)) {
			return known.format, ext
		}
	}
	return "", ""
}

func (f *finder) filename() string {
	if f.opts.Filename != "" {
		return f.opts.Filename
	}
	return "checkpoint.h5"
}

// wanted says whether a file counts as a checkpoint here.
func (f *finder) wanted(d *dir, name string) bool {
	if f.opts.Anywhere || name == f.filename() || saysSo().MatchString(name) {
		return true
	}
	return slices.ContainsFunc(strings.Split(string(d.key), "/"), dirSaysSo().MatchString)
}

// alone checks a checkpoint of one file.
func (f *finder) alone(ctx context.Context, o store.Object) error {
	known, err := f.whole(ctx, o)
	if err == nil && o.Key.Base() == "checkpoint" && o.Size <= maxPointer {
		err = f.pointer(ctx, o)
	}
	if err != nil || known || !f.local {
		return err // what is not local is visible only when it is whole
	}
	if age := f.opts.Now().Sub(o.Modified); age < settled {
		return notWhole("it was written %s ago, and its format does not tell whether it is whole", max(0, age).Round(time.Second))
	}
	return nil
}

// pointer refuses the file in which TensorFlow names its checkpoints.
func (f *finder) pointer(ctx context.Context, o store.Object) error {
	text, err := f.object(ctx, o).text()
	if err == nil && bytes.HasPrefix(text, []byte("model_checkpoint_path:")) {
		return notWhole("it only names the latest of TensorFlow's")
	}
	return err
}

// whole checks a file by its structure; known says whether that tells.
func (f *finder) whole(ctx context.Context, o store.Object) (known bool, err error) {
	name := o.Key.Base()
	if o.Size == 0 {
		return true, notWhole("%s is empty", name)
	}
	file := f.object(ctx, o)
	err = intact.Check(name, file, o.Size)
	if errors.Is(err, intact.ErrIncomplete) {
		return true, notWhole("%s: %v", name, err)
	}
	if err != nil {
		return true, err
	}
	head := make([]byte, min(8, o.Size))
	if _, err := file.ReadAt(head, 0); err != nil {
		return true, err
	}
	switch ext := strings.ToLower(path.Ext(name)); {
	case len(head) < 8 && (ext == "" || slices.Contains(fileFormats()[0].exts, ext)):
		return true, notWhole("%s ends before any format begins", name)
	case bytes.HasPrefix(head, []byte("GGUF")), ext == ".gguf":
		return true, checkGGUF(file)
	case ext == ".onnx":
		return true, checkONNX(file)
	}
	return tells(name, head), nil
}

// tells says whether intact knows a file that begins like this.
func tells(name string, head []byte) bool {
	for _, magic := range []string{"PK\x03\x04", "\x89HDF\r\n\x1a\n", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "PAR1"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return slices.Contains([]string{".npz", ".keras", ".safetensors", ".h5", ".hdf5", ".json"}, strings.ToLower(path.Ext(name)))
}

// allWhole checks every file of a list.
func (f *finder) allWhole(ctx context.Context, files []store.Object) error {
	for _, o := range files {
		if _, err := f.whole(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
