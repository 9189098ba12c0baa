package store

import (
	"path"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// syncMark is a file by which a framework says that others are whole. It is sent
// after them, so that a reader of the store may believe it as it believes it on
// the framework's own disk.
type syncMark struct {
	rank   int // marks are sent in the order of their ranks, after all else
	covers func(path string) bool
	// commits says that what it covers is one checkpoint, which is valid while the
	// mark stands beside it.
	commits bool
}

const (
	rankIndex   = 1 + iota // names the files of one model
	rankCommit             // ends a checkpoint
	rankPointer            // names the last checkpoint
)

// maxPointer is how long a file that names a checkpoint can be, in bytes.
const maxPointer = 4096

var (
	modelPath = pattern.Lazy(`(?m)^model_checkpoint_path: "([^"]+)"`)
	decimal   = pattern.Lazy(`^[0-9]+$`)
)

// markOf tells whether the file at a slash path is a mark, nil if not. text reads
// it, where it is short.
func markOf(file string, text func() string) *syncMark {
	dir, base := path.Split(file)
	below := func(other string) bool { return strings.HasPrefix(other, dir) && other != file }
	beside := func(other string) bool { return path.Dir(other) == path.Dir(file) && other != file }
	named := func(start, end string) func(string) bool {
		return func(other string) bool {
			name := path.Base(other)
			return beside(other) && strings.HasPrefix(name, start) && strings.HasSuffix(name, end)
		}
	}
	switch base {
	case ".metadata": // PyTorch's distributed checkpoints
		return &syncMark{rankCommit, named("", ".distcp"), true}
	case "commit_success.txt", "_CHECKPOINT_METADATA", "_SUCCESS": // Orbax, Spark
		return &syncMark{rankCommit, func(other string) bool { return below(other) && !isCommit(path.Base(other)) }, true}
	case "_METADATA", "manifest.ocdbt": // Orbax; they stand beside one another, and neither waits for the other
		return &syncMark{rankIndex, func(other string) bool {
			name := path.Base(other)
			return below(other) && !isCommit(name) && name != "_METADATA" && name != "manifest.ocdbt"
		}, false}
	case "trainer_state.json": // Hugging Face; it stands at the root too, and commits nothing there
		if strings.HasPrefix(path.Base(path.Dir(file)), "checkpoint-") {
			return &syncMark{rankCommit, below, true}
		}
	case "latest", "latest_checkpointed_iteration.txt", "checkpoint": // DeepSpeed, Megatron, TensorFlow
		return pointer(dir, text())
	}
	switch {
	case strings.HasSuffix(base, ".safetensors.index.json"):
		return &syncMark{rankIndex, named("", ".safetensors"), true}
	case strings.HasSuffix(base, ".bin.index.json"):
		return &syncMark{rankIndex, named("", ".bin"), true}
	case strings.HasSuffix(base, ".index"): // TensorFlow
		return &syncMark{rankIndex, named(strings.TrimSuffix(base, "index")+"data-", ""), true}
	}
	return nil
}

func isCommit(name string) bool {
	return name == "commit_success.txt" || name == "_CHECKPOINT_METADATA" || name == "_SUCCESS"
}

// pointer is the mark whose text names a checkpoint in dir, nil if it names none.
func pointer(dir, text string) *syncMark {
	name := strings.TrimSpace(text)
	if m := modelPath().FindStringSubmatch(text); m != nil {
		start := dir + path.Base(m[1]) + "."
		return &syncMark{rankPointer, func(other string) bool { return strings.HasPrefix(other, start) }, false}
	}
	if name == "" || strings.ContainsAny(name, "/\n\x00") {
		return nil
	}
	dirs := []string{dir + name + "/"}
	if decimal().MatchString(name) && len(name) < 20 {
		dirs = append(dirs, dir+"iter_"+strings.Repeat("0", max(0, 7-len(name)))+name+"/")
	}
	return &syncMark{rankPointer, func(other string) bool {
		for _, start := range dirs {
			if strings.HasPrefix(other, start) {
				return true
			}
		}
		return false
	}, false}
}

func (i *syncItem) rank() int {
	if i.mark == nil {
		return 0
	}
	return i.mark.rank
}
