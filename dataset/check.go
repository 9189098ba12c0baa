package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// CheckRule names what a dataset is held against. The names are a promise: they
// are printed, and programs compare them.
type CheckRule string

// The rules.
const (
	RuleAbsent      CheckRule = "absent"       // there are no data
	RuleUncommitted CheckRule = "uncommitted"  // no commit: someone writes, or died; also files that a Databricks job left
	RuleForeign     CheckRule = "foreign"      // a Delta or Iceberg table, or data in directories that are no partitions
	RuleManifest    CheckRule = "manifest"     // the manifest cannot be read
	RuleMissing     CheckRule = "missing"      // the manifest lists a file that is gone
	RuleUnlisted    CheckRule = "unlisted"     // a file that the manifest does not list
	RuleSize        CheckRule = "size"         // a file is not as long as the manifest says
	RuleFooter      CheckRule = "footer"       // a file is cut short, damaged, or no Parquet
	RuleChanged     CheckRule = "changed"      // a file was written again since it was adopted
	RuleRows        CheckRule = "rows"         // a footer and the manifest disagree on the number of rows
	RuleSchema      CheckRule = "schema"       // a file has other columns than the first one, or than the manifest says
	RuleDrift       CheckRule = "schema-drift" // the columns are other than those of the dataset compared with
	RulePartition   CheckRule = "partition"    // directories that are not the same partitions
	RuleChecksum    CheckRule = "checksum"     // bytes are not those that were written
	RuleData        CheckRule = "data"         // pages do not make sense; found by reading all data
	RuleStaleCRC    CheckRule = "stale-crc"    // a checksum file of Hadoop's does not fit its file: Hadoop cannot read it
	RuleUnsupported CheckRule = "unsupported"  // what the format allows and heirloom does not read
	RuleUnreachable CheckRule = "unreachable"  // a file could not be read; nothing is known of it
)

// CheckFinding is one thing that is wrong.
type CheckFinding struct {
	Rule    CheckRule
	Key     store.Key // the file or directory
	Problem string
}

// CheckOptions adjust Check. Nil and the zero value are the defaults.
type CheckOptions struct {
	ReadData bool         // decode every page, where the default is footers alone
	Manifest store.Digest // of the manifest, as it was committed; "" = not known
	// Adopted is the manifest of data that lie where others put them (Dataset.Manifest), nil
	// of all others.
	Adopted *Manifest
	Like    *Reader // a dataset whose columns this one should have, such as the version before; nil = none
}

// CheckReport is what Check found.
type CheckReport struct {
	State    State
	Manifest *Manifest // nil: there is none, or it cannot be read
	Files    int
	Rows     int64 // by the footers that could be read
	Bytes    int64
	ReadData bool
	Findings []CheckFinding // by key, then rule
}

// Check holds the dataset at dir against its manifest, if it has one, and
// against itself. What is wrong with it is in the report; the error is for what
// could not be looked at at all: that dir cannot be listed.
func Check(ctx context.Context, s *store.Store, dir store.Key, opts *CheckOptions) (*CheckReport, error) {
	if opts == nil {
		opts = new(CheckOptions)
	}
	f, err := list(ctx, s, dir)
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return nil, err
	}
	c := &checker{store: s, dir: dir, opts: *opts, report: &CheckReport{State: Absent, ReadData: opts.ReadData}}
	if err != nil {
		c.find(RuleAbsent, dir, "there is nothing")
		return c.report, nil
	}
	c.checkListing(f)
	if c.report.State != Absent {
		if err := c.checkFiles(ctx, f); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(c.report.Findings, func(a, b CheckFinding) int {
		if n := strings.Compare(string(a.Key), string(b.Key)); n != 0 {
			return n
		}
		return strings.Compare(string(a.Rule), string(b.Rule))
	})
	return c.report, nil
}

// checker collects findings.
type checker struct {
	store *store.Store
	dir   store.Key
	opts  CheckOptions

	mu     sync.Mutex // guards what follows
	report *CheckReport
}

func (c *checker) find(rule CheckRule, key store.Key, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Findings = append(c.report.Findings, CheckFinding{Rule: rule, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// checkListing finds what names alone tell.
func (c *checker) checkListing(f *found) {
	c.report.State = Present
	sign := f.unfinished()
	switch {
	case f.foreign != "":
		c.find(RuleForeign, c.dir, "it is a %s table, whose log says which of its files count", f.foreign)
	case sign != "":
		c.report.State = Incomplete
		c.find(RuleUncommitted, c.dir, "%s", sign)
	case len(f.data) == 0 && !f.manifest && f.stray == "":
		c.report.State = Absent
		c.find(RuleAbsent, c.dir, "no Parquet files")
	}
	if f.temporary && f.success {
		c.find(RuleUncommitted, c.dir.Join("_temporary"), "a job left it behind, or another one is writing here")
	}
	if f.stray != "" {
		c.find(RuleForeign, f.stray, "its directory is no partition of the form name=value")
	}
	c.checkTransactions(f)
}

// checkTransactions looks at the files that Databricks' jobs write: only those
// whose transaction was committed count there.
func (c *checker) checkTransactions(f *found) {
	for _, object := range f.data {
		for id := range f.started {
			if !f.ended[id] && strings.Contains(object.Key.Base(), "-tid-"+id+"-") {
				c.find(RuleUncommitted, object.Key, "it is of transaction %s, which was never committed", id)
			}
		}
	}
}

// expected are the files to look at, with what the manifest says of them.
func (c *checker) expected(ctx context.Context, f *found) ([]File, map[string]store.Object) {
	there := make(map[string]store.Object)
	for _, object := range f.data {
		there[f.name(object)] = object
	}
	if c.report.Manifest = c.opts.Adopted; c.report.Manifest != nil || f.manifest && c.readManifest(ctx) {
		return c.listed(c.report.Manifest, there), there
	}
	var list []File
	for _, object := range f.data {
		list = append(list, File{Name: f.name(object), Bytes: object.Size, Rows: -1})
	}
	return list, there
}

// readManifest compares the manifest with what was committed, if that is known,
// and reports whether it can be read.
func (c *checker) readManifest(ctx context.Context) bool {
	key := c.dir.Join(ManifestName)
	body, err := c.store.Get(ctx, key)
	m := new(Manifest)
	if err == nil {
		err = decode("read manifest", key, body, m)
	}
	if err != nil {
		c.findError(RuleManifest, key, err)
		return false
	}
	if c.opts.Manifest != "" && digest(body) != c.opts.Manifest {
		c.find(RuleManifest, key, "it is not the manifest that was committed")
	}
	c.report.Manifest = m
	return true
}

// listed compares the manifest with the listing.
func (c *checker) listed(m *Manifest, there map[string]store.Object) []File {
	var list []File
	known := make(map[string]bool)
	rows, bytes := int64(0), int64(0)
	for _, file := range m.Files {
		rows, bytes = rows+file.Rows, bytes+file.Bytes
		known[file.Name] = true
		object, ok := there[file.Name]
		switch {
		case !ok:
			c.find(RuleMissing, c.dir.Join(file.Name), "the manifest lists it, but it is gone")
		case object.Size != file.Bytes:
			c.find(RuleSize, object.Key, "it has %d bytes, %d in the manifest", object.Size, file.Bytes)
		case c.opts.Adopted != nil && file.SHA256 == "" && object.Version != file.Version:
			c.find(RuleChanged, object.Key, "it was written again since it was adopted; give it another name with heirloom dataset add")
			fallthrough
		default:
			list = append(list, file)
		}
	}
	for name, object := range there {
		if !known[name] {
			c.find(RuleUnlisted, object.Key, "the manifest does not list it")
		}
	}
	if rows != m.Rows || bytes != m.Bytes {
		c.find(RuleManifest, c.dir.Join(ManifestName), "its files have %d rows and %d bytes, it says %d and %d", rows, bytes, m.Rows, m.Bytes)
	}
	return list
}

// findError notes why a file could not be read, by the kind of the error, or
// under rule if that says nothing more.
func (c *checker) findError(rule CheckRule, key store.Key, err error) {
	switch {
	case errors.Is(err, store.ErrUnsupported):
		rule = RuleUnsupported
	case errors.Is(err, store.ErrNotExist):
		rule = RuleMissing
	case !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrInvalid):
		rule = RuleUnreachable
	case errors.Is(err, errChecksum):
		rule = RuleChecksum
	}
	var known *store.Error
	if errors.As(err, &known) && known.Err != nil {
		err = known.Err
	}
	c.find(rule, key, "%v", err)
}

// checkFiles looks into every file.
func (c *checker) checkFiles(ctx context.Context, f *found) error {
	files, there := c.expected(ctx, f)
	schemas := make([]*arrow.Schema, len(files))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(c.filesAtOnce())
	for i, file := range files {
		g.Go(func() error {
			object := there[file.Name]
			schemas[i] = c.checkFile(inner, object, file)
			c.checkCRC(inner, f, object)
			return inner.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.report.Files = len(files)
	c.checkSchemas(files, schemas, there)
	c.checkPartitions(files)
	return nil
}

// filesAtOnce is less where all data are read: each file is then decoded by
// several goroutines already.
func (c *checker) filesAtOnce() int {
	if c.opts.ReadData {
		return 2
	}
	return footersAtOnce
}

// checkFile opens a file, and reads it if all data are wanted. The schema is nil
// if there is no footer to take it from.
func (c *checker) checkFile(ctx context.Context, object store.Object, file File) *arrow.Schema {
	told := file.Rows
	file.Rows = -1
	p, err := openPart(ctx, c.store, object.Key, file, object.Version)
	if err != nil {
		c.findError(RuleFooter, object.Key, err)
		return nil
	}
	c.mu.Lock()
	c.report.Rows += p.rows
	c.report.Bytes += object.Size
	c.mu.Unlock()
	if told >= 0 && told != p.rows {
		c.find(RuleRows, object.Key, "its footer says %d rows, the manifest %d", p.rows, told)
	}
	if c.opts.ReadData {
		if err := c.readFile(ctx, p, file); err != nil {
			c.findError(RuleData, object.Key, err)
		}
	}
	return p.schema
}

// readFile decodes all pages, and compares checksums.
func (c *checker) readFile(ctx context.Context, p *part, file File) error {
	if err := p.readAll(ctx, file.SHA256); err != nil || c.opts.Adopted == nil || file.SHA256 == "" {
		return err
	}
	sum, err := digestOf(ctx, c.store, p.key)
	if err == nil && sum != file.SHA256 {
		err = errSum(p.key, sum, file.SHA256)
	}
	return err
}

// checkSchemas compares the columns of all files.
func (c *checker) checkSchemas(files []File, schemas []*arrow.Schema, there map[string]store.Object) {
	first := slices.IndexFunc(schemas, func(s *arrow.Schema) bool { return s != nil })
	if first < 0 {
		return
	}
	for i, schema := range schemas {
		if schema != nil && !sameFields(schemas[first], schema) {
			c.find(RuleSchema, there[files[i].Name].Key, "its columns are other than those of %s: %s", files[first].Name, differ(schemas[first], schema))
		}
	}
	if m := c.report.Manifest; m != nil && m != c.opts.Adopted && !slices.EqualFunc(m.Schema, fields(schemas[first]), sameField) {
		c.find(RuleSchema, there[files[first].Name].Key, "its columns are not those of the manifest")
	}
	if c.opts.Like != nil && !sameFields(c.opts.Like.stored, schemas[first]) {
		c.find(RuleDrift, c.dir, "compared with %s: %s", c.opts.Like.dir, differ(c.opts.Like.stored, schemas[first]))
	}
}

func sameField(a, b Field) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Nullable == b.Nullable
}

func (c *checker) checkPartitions(files []File) {
	var keys [][]partitionKey
	for _, file := range files {
		segments := strings.Split(file.Name, "/")
		list, _ := splitPartitions(segments[:len(segments)-1])
		keys = append(keys, list)
	}
	if _, err := partitionFields(c.dir, files, keys); err != nil {
		c.findError(RulePartition, c.dir, err)
	}
}
