package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/heirloom-ml/heirloom/store"
)

// Spec says what a dataset is made of. Two specs with the same fingerprint are
// the same dataset, so everything that changes its rows must be in here.
type Spec struct {
	// Sources are what the rows come from, in the order in which they are read.
	// At least one.
	Sources []Source
	// Features and Labels name columns that every batch must have. Either may be
	// empty: the spec then says nothing about them.
	Features, Labels []string
	// Options are whatever else changes the rows or the files, by name: the
	// version of the code that makes them, a filter, a limit.
	Options map[string]string
	// Split says which splits there are. The zero value is train alone.
	Split Split
	// Seed of what is drawn at random, such as the split.
	Seed uint64
	// Files says how the rows lie in files.
	Files FileOptions
}

// Source is one thing the rows come from. A URI alone does not say which bytes
// it held, so a digest or a version is needed beside it.
type Source struct {
	URI     string       `json:"uri"`               // canonical, or name@version
	Digest  store.Digest `json:"digest,omitempty"`  // of the content
	Version string       `json:"version,omitempty"` // ETag, generation, snapshot: what the source's home calls it
}

// Split says how rows are divided. Fractions lie in [0,1), and below 1 together.
type Split struct {
	Val      float64 `json:"val,omitempty"`      // fraction of the rows for validation; 0 is none
	Test     float64 `json:"test,omitempty"`     // fraction of the rows for the test; 0 is none
	Column   string  `json:"column,omitempty"`   // rows where it is true or above 0 are for validation; in place of Val
	Stratify string  `json:"stratify,omitempty"` // column whose values keep their shares in every split; "" is none
}

// Name is the name of a split.
type Name string

// The splits, by the names that commands and manifests use.
const (
	Train Name = "train"
	Val   Name = "val"
	Test  Name = "test"
)

// Splits lists the splits that s asks for, train first.
func (s Spec) Splits() []Name { return s.Split.names() }

// names lists the splits that s asks for, train first.
func (s Split) names() []Name {
	list := []Name{Train}
	if s.Val > 0 || s.Column != "" {
		list = append(list, Val)
	}
	if s.Test > 0 {
		list = append(list, Test)
	}
	return list
}

// Fingerprint identifies the dataset that s describes. The error has kind
// store.ErrInvalid and says which part of the spec is wrong.
//
// It is the SHA-256 of a sequence of netstrings (length in decimal, ":", the
// bytes, ","). The first is "heirloom.dataset/1", the version of this encoding.
// Then come the fields that are not empty, in this order, each as its name, the
// number of its values, and the values:
//
//	sources    URI, digest and version of each, one after the other
//	features   the names, in order
//	labels     the names, in order
//	options    name and value of each, sorted by name
//	split.val, split.test         the shortest decimal that reads back equal
//	split.column, split.stratify  the name
//	seed       decimal; always present
//	files.compression   unless it is zstd
//	files.partition_by  the names, in order
//
// A field added later is absent from the specs of today, which keep their
// fingerprints.
func (s Spec) Fingerprint() (store.Digest, error) {
	if err := s.check(); err != nil {
		return "", failure("fingerprint dataset", "", store.ErrInvalid, err)
	}
	sum := sha256.Sum256(s.canonical())
	return store.Digest(hex.EncodeToString(sum[:])), nil
}

func (s Spec) canonical() []byte {
	out := netstring(nil, "heirloom.dataset/1")
	field := func(name string, values ...string) {
		if len(values) == 0 {
			return
		}
		out = netstring(out, name)
		out = netstring(out, strconv.Itoa(len(values)))
		for _, value := range values {
			out = netstring(out, value)
		}
	}
	var sources, options []string
	for _, source := range s.Sources {
		sources = append(sources, source.URI, string(source.Digest), source.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		options = append(options, name, s.Options[name])
	}
	field("sources", sources...)
	field("features", s.Features...)
	field("labels", s.Labels...)
	field("options", options...)
	field("split.val", fraction(s.Split.Val)...)
	field("split.test", fraction(s.Split.Test)...)
	field("split.column", present(s.Split.Column)...)
	field("split.stratify", present(s.Split.Stratify)...)
	field("seed", strconv.FormatUint(s.Seed, 10))
	s.Files.canonical(field)
	return out
}

func netstring(out []byte, value string) []byte {
	out = strconv.AppendInt(out, int64(len(value)), 10)
	out = append(out, ':')
	out = append(out, value...)
	return append(out, ',')
}

func fraction(f float64) []string {
	if f == 0 {
		return nil
	}
	return []string{strconv.FormatFloat(f, 'g', -1, 64)}
}

func present(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (s Spec) check() error {
	if len(s.Sources) == 0 {
		return errors.New("a dataset needs at least one source")
	}
	for _, source := range s.Sources {
		if source.URI == "" {
			return errors.New("a source has no URI")
		}
		if source.Digest == "" && source.Version == "" {
			return fmt.Errorf("source %s has neither digest nor version, so its content is not known", source.URI)
		}
	}
	seen := make(map[string]bool)
	for _, column := range slices.Concat(s.Features, s.Labels) {
		if column == "" || seen[column] {
			return fmt.Errorf("column %q is empty or named twice", column)
		}
		seen[column] = true
	}
	return errors.Join(s.Split.check(), s.Files.check())
}

func (s Split) check() error {
	for _, f := range []float64{s.Val, s.Test} {
		if !(f >= 0 && f < 1) {
			return fmt.Errorf("a split of %v is not in [0,1)", f)
		}
	}
	if s.Val+s.Test >= 1 {
		return fmt.Errorf("splits of %v and %v leave nothing for training", s.Val, s.Test)
	}
	if s.Column != "" && s.Val > 0 {
		return fmt.Errorf("validation is given both as fraction %v and as column %q", s.Val, s.Column)
	}
	return nil
}
