package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

const (
	safetensorsIndex = ".safetensors.index.json"
	torchIndex       = ".bin.index.json"
	maxShards        = 100_000 // files of one index
)

var shardName = pattern.Lazy(`^(.+)-\d{5}-of-\d{5}\.(safetensors|bin)$`)

// indexOf is the name of the index that a shard belongs to, "" for what is no shard.
func indexOf(name string) string {
	if m := shardName().FindStringSubmatch(name); m != nil {
		return m[1] + "." + m[2] + ".index.json"
	}
	return ""
}

func isIndex(name string) bool {
	return strings.HasSuffix(name, safetensorsIndex) || strings.HasSuffix(name, torchIndex)
}

// indices lists the indices that d has or whose shards it has, sorted.
func (d *dir) indices() []string {
	var list []string
	for _, name := range d.names() {
		if index := indexOf(name); index != "" {
			list = append(list, index)
		} else if isIndex(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// shards lists the files of d that belong to an index by their names.
func (d *dir) shards(index string) []string {
	return slices.DeleteFunc(d.names(), func(name string) bool { return name != index && indexOf(name) != index })
}

// sharded takes the indices of d with their shards, and marks the files as parts.
func (f *finder) sharded(d *dir, parts map[string]bool) {
	for _, index := range d.indices() {
		files := d.shards(index)
		path := d.key.Join(index)
		found := &draft{Checkpoint: Checkpoint{Path: path, Format: Safetensors, Step: stepOf(path, ".index.json"), Dir: d.key}}
		if strings.HasSuffix(index, torchIndex) {
			found.Format = Torch
		}
		if d.has(index) {
			found.markers = []store.Key{path}
		}
		found.check = func(ctx context.Context) error { return f.checkIndex(ctx, d, index) }
		found.take(d.pick(files))
		for _, name := range files {
			parts[name] = true
		}
		if f.wanted(d, index) {
			f.drafts = append(f.drafts, found)
		}
	}
}

func (d *dir) pick(names []string) []store.Object {
	var list []store.Object
	for _, name := range names {
		list = append(list, d.files[name])
	}
	return list
}

// checkIndex wants every file that an index names, and each of them whole.
func (f *finder) checkIndex(ctx context.Context, d *dir, index string) error {
	if !d.has(index) {
		return notWhole("%s is missing", index)
	}
	names, err := readIndex(f.object(ctx, d.files[index]))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !d.has(name) {
			return notWhole("%s is missing", name)
		}
	}
	for _, name := range d.shards(index) {
		if name != index && !slices.Contains(names, name) {
			return notWhole("%s is not in the index", name)
		}
	}
	return f.allWhole(ctx, d.pick(names))
}

// readIndex lists the files of an index, sorted.
func readIndex(o *object) ([]string, error) {
	text, err := o.text()
	if err != nil {
		return nil, err
	}
	names, err := parseIndex(text)
	if err != nil {
		return nil, notWhole("%s: %v", o.Key.Base(), err)
	}
	return names, nil
}

// fileSet gathers the files of a weight map without keeping the names of the tensors.
type fileSet map[string]bool

// UnmarshalJSON is json.Unmarshaler's.
func (s *fileSet) UnmarshalJSON(b []byte) error {
	in := json.NewDecoder(strings.NewReader(string(b)))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return errors.New("its weight_map is no object")
	}
	*s = fileSet{}
	for in.More() {
		if _, err := in.Token(); err != nil { // the name of a tensor
			return err
		}
		t, err := in.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return errors.New("its weight_map holds what is no name of a file")
		}
		if (*s)[name] = true; len(*s) > maxShards {
			return fmt.Errorf("it names more than %d files", maxShards)
		}
	}
	return nil
}

func parseIndex(text []byte) ([]string, error) {
	var index struct {
		Files fileSet `json:"weight_map"`
	}
	if err := json.Unmarshal(quoteNumbers(text), &index); err != nil {
		return nil, err
	}
	if len(index.Files) == 0 {
		return nil, errors.New("it names no files")
	}
	names := sortedKeys(index.Files)
	for _, name := range names {
		if strings.ContainsAny(name, `/\`) || name == "." || name == ".." || name == "" {
			return nil, fmt.Errorf("it names %q, which is no file beside it", name)
		}
	}
	return names, nil
}

// fileSets takes the checkpoints among the files right in d.
func (f *finder) fileSets(d *dir) {
	if f.pretrained(d) {
		return
	}
	parts := map[string]bool{}
	f.sharded(d, parts)
	f.tensorFlow(d, parts)
	f.singles(d, parts)
}
