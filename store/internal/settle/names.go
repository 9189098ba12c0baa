package settle

import (
	"strings"
)

// Temporary says whether the slash path is, or lies below, a name that writers
// give to what is not finished: those of PyTorch (.metadata.tmp), Orbax, the
// Trainer of Hugging Face, TensorFlow, Spark, rsync's and browsers' kin, and our
// own.
func Temporary(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if temporary(name) {
			return true
		}
	}
	return false
}

func temporary(name string) bool {
	for _, end := range []string{".tmp", ".temp", ".part", ".partial", ".incomplete", ".inprogress", ".swp", "~", "_temp"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	for _, start := range []string{"tmp-checkpoint-", ".~lock", "_temporary"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	for _, part := range []string{".orbax-checkpoint-tmp", ".tmp.", ".tmp-", ".tempstate"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
