package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// bundleData is a data file of a TensorFlow checkpoint; its index has the same beginning.
var bundleData = pattern.Lazy(`^(.+)\.data-(\d{5})-of-(\d{5})$`)

// savedModelGraph is written after the variables.
const savedModelGraph = "saved_model.pb"

// bundles lists the beginnings of the checkpoints right in d, sorted.
func (d *dir) bundles() []string {
	var list []string
	for _, name := range d.names() {
		if m := bundleData().FindStringSubmatch(name); m != nil {
			list = append(list, m[1])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// tensorFlow takes the checkpoints right in d, and marks the files as parts.
func (f *finder) tensorFlow(d *dir, parts map[string]bool) {
	bundles := d.bundles()
	if len(bundles) > 0 {
		parts["checkpoint"] = true // names the latest, and is no part of any
	}
	for _, prefix := range bundles {
		path := d.key.Join(prefix)
		found := &draft{Checkpoint: Checkpoint{Path: path, Format: TensorFlow, Step: stepOf(path, ""), Dir: d.key}}
		if d.has(prefix + ".index") {
			found.markers = []store.Key{path + ".index"}
		}
		var files []store.Object
		for _, name := range d.names() {
			m := bundleData().FindStringSubmatch(name)
			if m != nil && m[1] == prefix || name == prefix+".index" || name == prefix+".meta" {
				files = append(files, d.files[name])
				parts[name] = true
			}
		}
		found.check = func(ctx context.Context) error { return f.checkBundle(ctx, d, prefix) }
		found.take(files)
		f.drafts = append(f.drafts, found)
	}
}

// checkBundle wants every data file that the index tells of, each as long as it says.
func (f *finder) checkBundle(ctx context.Context, d *dir, prefix string) error {
	index, ok := d.files[prefix+".index"]
	if !ok {
		return notWhole("%s.index is missing", prefix)
	}
	body, err := f.object(ctx, index).text()
	if err != nil {
		return err
	}
	shards, err := parseBundle(body)
	if err != nil {
		return notWhole("%s: %v", index.Key.Base(), err)
	}
	for i, size := range shards {
		name := fmt.Sprintf("%s.data-%05d-of-%05d", prefix, i, len(shards))
		o, ok := d.files[name]
		if !ok {
			return notWhole("%s is missing", name)
		}
		if o.Size < size {
			return notWhole("%s has %d bytes of %d", name, o.Size, size)
		}
	}
	for _, name := range d.names() {
		m := bundleData().FindStringSubmatch(name)
		if m != nil && m[1] == prefix && natural(m[3]) != int64(len(shards)) {
			return notWhole("%s is not of the %d that the index tells of", name, len(shards))
		}
	}
	return nil
}

// savedModel takes a directory that TensorFlow or Keras exports, Horovod's checkpoint.tf among them.
func (f *finder) savedModel(d *dir) *draft {
	variables := d.dirs["variables"]
	if !d.has(savedModelGraph) && (variables == nil || len(variables.bundles()) == 0 && !variables.has("variables.index")) {
		return nil
	}
	if !f.wanted(d, d.name()) {
		return nil
	}
	found := &draft{Checkpoint: Checkpoint{Format: SavedModel, Step: stepOf(d.key, ".tf")}}
	if d.has(savedModelGraph) {
		found.markers = []store.Key{d.key.Join(savedModelGraph)}
	}
	found.check = func(ctx context.Context) error {
		if !d.has(savedModelGraph) {
			return notWhole("%s is missing", savedModelGraph)
		}
		if err := checkProto(f.object(ctx, d.files[savedModelGraph]), 2); err != nil {
			return err
		}
		if variables == nil || len(variables.files) == 0 {
			return f.withoutVariables(ctx, d)
		}
		if why, err := verdict(f.checkBundle(ctx, variables, "variables")); err != nil || why != "" {
			return cmp.Or(err, notWhole("variables: %s", why))
		}
		return f.allWhole(ctx, d.own())
	}
	return found
}

// withoutVariables takes a model that has none, which its graph tells: each variable has a handle.
func (f *finder) withoutVariables(ctx context.Context, d *dir) error {
	graph, err := f.object(ctx, d.files[savedModelGraph]).text()
	if err != nil {
		return err
	}
	if bytes.Contains(graph, []byte("VarHandleOp")) || bytes.Contains(graph, []byte("VariableV2")) {
		return notWhole("variables are missing")
	}
	return nil
}
