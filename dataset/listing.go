package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// found is what a directory holds.
type found struct {
	dir    store.Key
	single bool // dir is a file
	data   []store.Object
	keys   [][]partitionKey // of data

	manifest, success bool
	temporary         bool                // of a job that runs or died
	started, ended    map[string]bool     // Databricks' transactions, by id
	foreign           string              // "Delta" or "Iceberg": such a table's files are more than its rows
	common            bool                // _common_metadata
	stray             store.Key           // data in a directory that is no partition
	crcs              map[store.Key]int64 // Hadoop's checksum files, and their sizes
}

// list reads the names below dir. Data come in order of name.
func list(ctx context.Context, s *store.Store, dir store.Key) (*found, error) {
	f := &found{dir: dir, started: make(map[string]bool), ended: make(map[string]bool), crcs: make(map[store.Key]int64)}
	empty := true
	for object, err := range s.List(ctx, below(dir)) {
		if err != nil {
			return nil, err
		}
		empty = false
		f.add(object, strings.TrimPrefix(string(object.Key), below(dir)))
	}
	if empty && dir != "" {
		object, err := s.Stat(ctx, dir)
		if err != nil {
			return nil, failure("open dataset", dir, errKind(err), errors.New("there is nothing"))
		}
		f.single, f.data, f.keys = true, []store.Object{object}, [][]partitionKey{nil}
	}
	return f, nil
}

// errKind keeps absence apart from every other failure, which stays what it is.
func errKind(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return store.ErrNotExist
	}
	return err
}

// below is the prefix of what lies in dir.
func below(dir store.Key) string {
	if dir == "" {
		return ""
	}
	return string(dir) + "/"
}

// name is where object lies within the directory.
func (f *found) name(object store.Object) string {
	if f.single {
		return object.Key.Base()
	}
	return strings.TrimPrefix(string(object.Key), below(f.dir))
}

// add notes one object, by its name within the directory.
func (f *found) add(object store.Object, name string) {
	segments := strings.Split(name, "/")
	if f.marker(segments[0], len(segments) > 1, name) {
		return
	}
	if last := segments[len(segments)-1]; strings.HasPrefix(last, ".") && strings.HasSuffix(last, ".crc") {
		f.crcs[object.Key] = object.Size
	}
	for _, segment := range segments {
		if !IsData(segment) {
			return
		}
	}
	keys, ok := splitPartitions(segments[:len(segments)-1])
	if !ok {
		if f.stray == "" {
			f.stray = object.Key
		}
		return
	}
	f.data = append(f.data, object)
	f.keys = append(f.keys, keys)
}

// marker takes what is known by its name not to be data.
func (f *found) marker(first string, nested bool, name string) bool {
	switch {
	case first == "_temporary":
		f.temporary = true
	case first == "_delta_log":
		f.foreign = "Delta"
	case nested && first == "metadata" && strings.HasSuffix(name, ".metadata.json"):
		f.foreign = "Iceberg"
	case nested:
		return false
	case strings.HasPrefix(first, "_started_"):
		f.started[strings.TrimPrefix(first, "_started_")] = true
	case strings.HasPrefix(first, "_committed_"):
		f.ended[strings.TrimPrefix(first, "_committed_")] = true
	case first == ManifestName:
		f.manifest = true
	case first == SuccessName:
		f.success = true
	case first == "_common_metadata":
		f.common = true
	default:
		return false
	}
	return true
}

// unfinished says by which sign whoever writes the directory died or is not
// done; "" if there is none.
func (f *found) unfinished() string {
	if f.temporary && !f.success {
		return "_temporary is there and _SUCCESS is not"
	}
	for id := range f.started {
		if !f.ended[id] && !f.success {
			return fmt.Sprintf("_started_%s is there and _committed_%s is not", id, id)
		}
	}
	for _, object := range f.data {
		if epoch, ours := partEpoch(object.Key.Base()); ours && !f.manifest && !f.single {
			return fmt.Sprintf("files of epoch %d without a manifest", epoch)
		}
	}
	if f.manifest && !f.success {
		return "no " + SuccessName
	}
	return ""
}

// finished refuses a directory that cannot be read as a plain dataset.
func (f *found) finished() error {
	switch sign := f.unfinished(); {
	case f.foreign != "":
		return failure("open dataset", f.dir, store.ErrUnsupported,
			fmt.Errorf("it is a %s table, whose log says which of its files count; only plain Parquet is read: write its rows out with an engine that reads it", f.foreign))
	case sign != "":
		return failure("open dataset", f.dir, store.ErrCorrupt, fmt.Errorf("%w: %s", ErrIncomplete, sign))
	case f.stray != "":
		return failure("open dataset", f.dir, store.ErrUnsupported,
			fmt.Errorf("%s lies in a directory that is no partition of the form name=value; name that directory by itself", f.stray))
	case len(f.data) == 0 && !f.manifest:
		return failure("open dataset", f.dir, store.ErrNotExist, errors.New("no Parquet files"))
	}
	return nil
}

// notes is for Reader.Notes.
func (f *found) notes() []string {
	if f.common {
		return []string{"_common_metadata is there, which Petastorm writes among others; it may hold pickles and is not loaded"}
	}
	return nil
}
