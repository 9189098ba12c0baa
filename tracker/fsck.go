package tracker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// defaultGrace is how long a writer may take to complete what it began.
const defaultGrace = 10 * time.Minute

// FsckOptions adjust Fsck. Nil and the zero value look at the records alone and
// change nothing.
type FsckOptions struct {
	// Repair adds what is missing and moves aside what must not be where it is; it
	// overwrites nothing, and removes nothing but directories without any object. What lies in a run goes to its directory
	// heirloom/aside, other things to Aside. It may be repeated and interrupted.
	Repair bool
	Aside  *store.Store // nil leaves what is outside of the runs' directories

	// Grace is how old something must be before it counts as abandoned, since a
	// writer may be about to complete it. 0 is ten minutes, less than 0 none.
	Grace time.Duration

	// Data is the store that holds the artifacts, by their key. Nil does not look
	// for artifacts. Stat asks for those that lie elsewhere; nil leaves them, and
	// FsckReport.Unchecked counts them.
	Data *store.Store
	Stat func(ctx context.Context, url string) (store.Object, error)
	// Deleted says whether what lay at a key of Data was deleted on purpose: it is
	// not missed. Nil is that nothing was.
	Deleted func(key store.Key) bool
	// ReadData reads those that lie in Data and have a checksum in full.
	ReadData bool

	Secrets bool // look for what store.Redact would take out
	// TorchX tells also of what TorchX reads otherwise than heirloom though
	// nothing is damaged, and completes its mirror for links that it wrote itself.
	TorchX bool
}

// Finding is one thing that breaks a rule.
type Finding struct {
	Rule    Rule
	Run     RunID     // "" where it is no run's
	Key     store.Key // below the tracker's root
	Problem string    // one sentence, without the values of secrets
	Remedy  string    // what Repair does about it; "" is nothing
	// Repaired says that Repair did it, Left why it did not: "" where it was not
	// asked to or could not.
	Repaired bool
	Left     string

	fix func(context.Context) error
}

// FsckReport is what Fsck found.
type FsckReport struct {
	Runs, Objects, Artifacts int       // that were looked at
	Unchecked                int       // artifacts that could not be looked for
	Findings                 []Finding // by key and rule
}

// Broken is how many findings remain.
func (r *FsckReport) Broken() int {
	n := 0
	for _, f := range r.Findings {
		if !f.Repaired {
			n++
		}
	}
	return n
}

// Fsck checks the whole root, from one listing and all of its records, against
// the rules, and is silent about a root that breaks none, TorchX's own included.
// An error means that it could not look; what it repaired until then stays.
// opts may be nil.
func (t *FileTracker) Fsck(ctx context.Context, opts *FsckOptions) (*FsckReport, error) {
	if opts == nil {
		opts = &FsckOptions{}
	}
	f := &fsck{t: t, opts: *opts, now: t.opts.Now()}
	if f.opts.Grace == 0 {
		f.opts.Grace = defaultGrace
	}
	f.stamp = f.now.UTC().Format("20060102T150405Z")
	err := f.check(ctx)
	if err == nil && opts.Repair {
		err = f.repair(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("check tracker: %w", err)
	}
	return &f.report, nil
}

// fsck is one check. It is used by one goroutine, save for found.
type fsck struct {
	t      *FileTracker
	opts   FsckOptions
	now    time.Time
	stamp  string // of what this repair moves aside
	root   *rootScan
	report FsckReport
}

func (f *fsck) check(ctx context.Context) error {
	if err := f.checkFormat(ctx); err != nil {
		return err
	}
	var err error
	if f.root, err = f.t.scan(ctx); err != nil {
		return err
	}
	if err := f.checkDirectories(ctx); err != nil {
		return err
	}
	if err := f.checkForeign(ctx); err != nil {
		return err
	}
	ids := f.root.ids()
	f.checkTwins(ids)
	for some := range slices.Chunk(ids, runsAhead) {
		if err := f.checkRuns(ctx, some); err != nil {
			return err
		}
	}
	slices.SortStableFunc(f.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Problem, b.Problem))
	})
	return nil
}

// checkRuns reads some runs together, with what mirrors them in their parents.
func (f *fsck) checkRuns(ctx context.Context, ids []RunID) error {
	var keys []store.Key
	for _, id := range ids {
		l := f.root.runs[id]
		keys = append(keys, l.allKeys()...)
		keys = append(keys, f.mirrors(l)...)
		if f.opts.Secrets {
			keys = append(keys, l.others...)
		}
	}
	slices.Sort(keys)
	b, err := f.t.read(ctx, slices.Compact(keys))
	if err != nil {
		return err
	}
	var artifacts []placed
	for _, id := range ids {
		l := f.root.runs[id]
		f.report.Runs++
		f.report.Objects += l.objects
		run := l.run(b, f.now)
		f.checkRecords(l, b)
		f.checkTexts(l, b)
		f.checkMirror(l, b, run)
		f.checkAlone(l)
		f.checkAttempts(run)
		f.checkSecrets(l, b)
		f.checkOrder(l, b, run)
		f.warned(l, b)
		artifacts = append(artifacts, f.checkNames(l, run)...)
	}
	return f.checkArtifacts(ctx, artifacts)
}

// mirrors are the text files that tell of l in the directories of its parents.
func (f *fsck) mirrors(l *listing) []store.Key {
	var keys []store.Key
	for parent := range l.parents() {
		if p := f.root.runs[parent]; p != nil && p.descendants[l.id] != "" {
			keys = append(keys, p.descendants[l.id])
		}
	}
	return keys
}

// found records a finding. fix is nil where there is no remedy.
func (f *fsck) found(rule Rule, run RunID, key store.Key, problem, remedy string, fix func(context.Context) error) {
	f.report.Findings = append(f.report.Findings, Finding{Rule: rule, Run: run, Key: key, Problem: problem, Remedy: remedy, fix: fix})
}

// young says whether a writer may still be about to complete what it began then.
func (f *fsck) young(then time.Time) bool {
	return f.opts.Grace > 0 && !then.IsZero() && f.now.Sub(then) < f.opts.Grace
}

func (f *fsck) checkFormat(ctx context.Context) error {
	f.t.format.set(nil)
	_, err := f.t.Format(ctx)
	if err == nil || !isKind(err, store.ErrCorrupt) {
		return err
	}
	f.found(RuleFormat, "", formatKey, err.Error(), "move it aside and write it anew", func(ctx context.Context) error {
		if err := f.aside(ctx, "", formatKey); err != nil {
			return err
		}
		return f.t.Init(ctx, InitOptions{})
	})
	return nil
}

// checkDirectories finds what TorchX would take for runs. An empty directory,
// which only a file system has, shows itself in no listing of objects.
func (f *fsck) checkDirectories(ctx context.Context) error {
	for e, err := range f.t.s.ListDir(ctx, "") {
		if err != nil {
			return err
		}
		name := string(e.Key)
		if !e.IsDir {
			continue
		}
		if id, err := DecodeRunID(name); err == nil {
			if err := f.checkEmpty(ctx, id); err != nil {
				return err
			}
			continue
		}
		rule := directoryRule(name)
		f.found(rule, "", e.Key, directoryProblem(rule), "move it out of the root", func(ctx context.Context) error {
			return f.asideDir(ctx, e.Key)
		})
	}
	return nil
}

// checkForeign finds what only an object store has room for, and our own does
// not write.
func (f *fsck) checkForeign(ctx context.Context) error {
	long := make(map[string]bool)
	for name, err := range f.t.s.ListForeign(ctx, "") {
		if err != nil {
			return err
		}
		dir, rest, _ := strings.Cut(name, "/")
		switch rule := directoryRule(dir); {
		case rule == RuleIDLong && !long[dir]:
			long[dir] = true
			f.found(rule, "", store.Key(dir), "the id of this run has more than 155 bytes: TorchX reads it from here, no local disk can hold it, and heirloom passes it over", "", nil)
		case strings.HasSuffix(rest, "/") && isRunDir(dir) && strings.Count(rest, "/") == 1:
			f.found(RuleDirectoryMark, "", store.Key(name), "an object that marks a directory; TorchX takes it for a record, and fails", "", nil)
		}
	}
	return nil
}

func isRunDir(name string) bool {
	_, err := DecodeRunID(name)
	return err == nil
}

func directoryProblem(rule Rule) string {
	switch rule {
	case RuleIDEmpty:
		return "written for a run without an id; TorchX cannot list the runs beside it"
	case RuleIDBad:
		return "the name of a run that is not UTF-8 or holds control characters"
	case RuleDirectoryMisspelt:
		return "the name of a run in another spelling; TorchX cannot list the runs beside it"
	}
	return "not the directory of a run; TorchX cannot list the runs beside it"
}

// checkAlone finds children in the mirror that know nothing of this run.
func (f *fsck) checkAlone(l *listing) {
	for _, child := range slices.Sorted(maps.Keys(l.descendants)) {
		if c := f.root.runs[child]; c == nil || !c.uses(l.id) {
			f.found(RuleDescendantAlone, l.id, l.descendants[child],
				fmt.Sprintf("says that %s used this run, which that run does not", printable(string(child))), "", nil)
		}
	}
}

// warned turns what the readers passed over into findings.
func (f *fsck) warned(l *listing, b bodies) {
	for _, w := range l.sortedWarnings() {
		if isKind(b[w.Key].err, store.ErrNotExist) {
			continue // removed meanwhile
		}
		fix := f.remedyOf(l, w, b)
		f.found(w.Rule, l.id, w.Key, w.Reason, fix.text, fix.do)
	}
}
