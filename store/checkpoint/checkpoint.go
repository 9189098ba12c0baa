package checkpoint

import (
	"cmp"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Format names the framework or the file format of a checkpoint.
type Format string

// The formats.
const (
	Orbax       Format = "orbax"
	DCP         Format = "dcp" // torch.distributed.checkpoint
	DeepSpeed   Format = "deepspeed"
	HuggingFace Format = "huggingface" // a directory that the Trainer or save_pretrained writes
	Safetensors Format = "safetensors" // one file, or shards with an index
	Lightning   Format = "lightning"
	TensorFlow  Format = "tensorflow" // an index and its data files
	SavedModel  Format = "savedmodel"
	Keras       Format = "keras"
	Horovod     Format = "horovod" // the file in which Horovod's estimators keep the last checkpoint
	Torch       Format = "torch"
	NumPy       Format = "numpy"
	ONNX        Format = "onnx"
	GGUF        Format = "gguf"
	Plain       Format = "plain" // a file of a format that does not tell whether it is whole
)

// NoStep is the Step of a checkpoint whose name tells none.
const NoStep = -1

// Checkpoint is one save of a model's state.
type Checkpoint struct {
	// Path is the key of the directory or file, or the key that the names of its files begin with (TensorFlow's
	// ckpt-3), in the store that was searched.
	Path   store.Key
	Format Format
	Step   int64  // a natural number, of steps or epochs; NoStep if it cannot be told
	Reason string // why it is not whole; "" = it is
	// Dir is the directory to which Files are relative: Path itself if that is one.
	Dir      store.Key
	Files    []store.Object // sorted by key
	Size     int64          // bytes of all files
	Modified time.Time      // of the file written last
	// Metrics are those that the checkpoint itself tells of, nil if none.
	Metrics map[string]float64

	markers []store.Key // without one of them it is not whole
}

// Complete says whether the checkpoint can be used.
func (c *Checkpoint) Complete() bool { return c.Reason == "" }

// IsFile says whether the checkpoint is one file of that name.
func (c *Checkpoint) IsFile() bool { return len(c.Files) == 1 && c.Files[0].Key == c.Path }

// Markers are the keys of the files without which no reader takes the checkpoint for whole.
func (c *Checkpoint) Markers() []store.Key { return slices.Clone(c.markers) }

// Compare orders checkpoints from the oldest to the newest: those without a step first, by the time they were written;
// then by step, as numbers. Equal ones are in the order of their paths.
func Compare(a, b *Checkpoint) int {
	return cmp.Or(cmp.Compare(a.Step, b.Step), a.Modified.Compare(b.Modified), cmp.Compare(a.Path, b.Path))
}

// Latest is the newest of the complete ones, nil if there is none.
func Latest(list []*Checkpoint) *Checkpoint {
	var latest *Checkpoint
	for _, c := range list {
		if c.Complete() && (latest == nil || Compare(c, latest) > 0) {
			latest = c
		}
	}
	return latest
}

// take makes files those of the checkpoint.
func (c *Checkpoint) take(files []store.Object) {
	c.Files = slices.Clone(files)
	slices.SortFunc(c.Files, func(a, b store.Object) int { return cmp.Compare(a.Key, b.Key) })
	c.Size, c.Modified = 0, time.Time{}
	for _, f := range c.Files {
		c.Size += f.Size
		if f.Modified.After(c.Modified) {
			c.Modified = f.Modified
		}
	}
}
