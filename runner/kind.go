package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/tracker"
)

const maxNameBytes = 155 // of an artifact that links may name

// artifactName makes a name of a path: itself where it is a legal one, else its
// beginning, without what is illegal, and a hash of all of it.
func artifactName(p string) string {
	legal := utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) && strings.TrimSpace(p) == p
	if legal && p != "" && len(p) <= maxNameBytes {
		return p
	}
	sum := sha256.Sum256([]byte(p))
	end := "~" + hex.EncodeToString(sum[:8])
	head := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(p))
	if most := maxNameBytes - len(end); len(head) > most {
		head = strings.ToValidUTF8(head[:most], "")
	}
	return head + end
}

// kindOf tells by its path what an output is. The first rule that fits counts:
//
//	metrics.jsonl, .json, .csv           metrics
//	below checkpoints/, or checkpoint    checkpoint (checkpoint: Horovod's file of that name)
//	*.parquet, or below such a directory dataset
//	*.pt .pth .safetensors .onnx .h5 .keras, model.*   model
func kindOf(p, checkpoint string) string {
	base := path.Base(p)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch elems := strings.Split(p, "/"); {
	case stem == "metrics" && hasExt(base, ".jsonl", ".json", ".csv"):
		return tracker.KindMetrics
	case elems[0] == "checkpoints" || base == checkpoint:
		return tracker.KindCheckpoint
	}
	for elem := range strings.SplitSeq(p, "/") {
		if hasExt(elem, ".parquet") {
			return tracker.KindDataset
		}
	}
	if hasExt(base, ".pt", ".pth", ".safetensors", ".onnx", ".h5", ".keras") || (stem == "model" && stem != base) {
		return tracker.KindModel
	}
	return tracker.KindOther
}

func hasExt(name string, exts ...string) bool {
	for _, ext := range exts {
		if path.Ext(name) == ext {
			return true
		}
	}
	return false
}
