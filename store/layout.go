package store

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The names of Horovod's Store, and ours beside them.
const (
	defaultTrain      = "intermediate_train_data"
	defaultVal        = "intermediate_val_data"
	defaultTest       = "intermediate_test_data"
	defaultRuns       = "runs"
	defaultCheckpoint = "checkpoint.h5"
	dbfsCheckpoint    = "checkpoint.tf" // Horovod's name on the Databricks file system
	logsSubdir        = "logs"
	checkpointsSubdir = "checkpoints"
)

// LayoutOptions are what Horovod lets a user override. Zero values are Horovod's defaults. A path is a key, or
// a full URL or an absolute path below the store's own root.
type LayoutOptions struct {
	URL                string // of the store's root; only Remote and full URLs in the paths need it
	TrainPath          string // "" is intermediate_train_data
	ValPath            string // "" is intermediate_val_data
	TestPath           string // "" is intermediate_test_data
	RunsPath           string // "" is runs
	SaveRuns           *bool  // nil is true
	CheckpointFilename string // "" is checkpoint.h5, on the Databricks file system checkpoint.tf
}

// Layout says where things lie below the root of a store. It is a pure value and touches nothing. The zero value
// has Horovod's defaults and knows no URL.
type Layout struct {
	root             string // URL without trailing slash, "" unknown
	train, val, test Key
	runs             Key
	checkpoint       string
	forgetRuns       bool
}

// NewLayout checks the overrides; opts may be nil. The error has kind ErrInvalid.
func NewLayout(opts *LayoutOptions) (Layout, error) {
	if opts == nil {
		return Layout{}, nil
	}
	l := Layout{root: rootURL(opts.URL), checkpoint: opts.CheckpointFilename}
	if opts.SaveRuns != nil {
		l.forgetRuns = !*opts.SaveRuns
	}
	for _, path := range []struct {
		name, given string
		key         *Key
	}{
		{"train path", opts.TrainPath, &l.train},
		{"val path", opts.ValPath, &l.val},
		{"test path", opts.TestPath, &l.test},
		{"runs path", opts.RunsPath, &l.runs},
	} {
		key, err := overrideKey(l.root, path.given)
		if err != nil {
			return Layout{}, &Error{Op: "set " + path.name, Kind: ErrInvalid, Err: err}
		}
		*path.key = key
	}
	if err := checkFilename(l.checkpoint); err != nil {
		return Layout{}, &Error{Op: "set checkpoint filename", Kind: ErrInvalid, Err: err}
	}
	if l.checkpoint == "" && strings.HasPrefix(canonicalOr(l.root), "dbfs:") {
		l.checkpoint = dbfsCheckpoint
	}
	return l, nil
}

// Layout is that of the options the store was opened with. Open has refused those that NewLayout refuses.
func (s *Store) Layout() Layout {
	l, err := NewLayout(s.opts.layout(s.KeyURL("")))
	if err != nil {
		return Layout{}
	}
	return l
}

// layout gives the overrides for the store at url.
func (o *Options) layout(url string) *LayoutOptions {
	return &LayoutOptions{
		URL: url, TrainPath: o.TrainPath, ValPath: o.ValPath, TestPath: o.TestPath, RunsPath: o.RunsPath,
		SaveRuns: o.SaveRuns, CheckpointFilename: o.CheckpointFilename,
	}
}

// TrainData is the directory of training data with index idx, without an index if idx is negative.
func (l Layout) TrainData(idx int) Key { return indexed(cmp.Or(l.train, defaultTrain), idx) }

// ValData is the same for validation data.
func (l Layout) ValData(idx int) Key { return indexed(cmp.Or(l.val, defaultVal), idx) }

// TestData is the same for test data.
func (l Layout) TestData(idx int) Key { return indexed(cmp.Or(l.test, defaultTest), idx) }

func indexed(k Key, idx int) Key {
	if idx < 0 {
		return k
	}
	return k + "." + Key(strconv.Itoa(idx))
}

// SavesRuns says whether checkpoints and logs are kept, Horovod's save_runs.
func (l Layout) SavesRuns() bool { return !l.forgetRuns }

// Runs is the directory of all runs.
func (l Layout) Runs() Key { return cmp.Or(l.runs, defaultRuns) }

// RunDir is the output directory of a run.
func (l Layout) RunDir(run string) Key { return l.Runs().Join(EncodeRun(run)) }

// RunDirs are the directories in which to look for a run's output: RunDir, and the one that Horovod, which uses
// ids as they are, would have written, where that lies below Runs.
func (l Layout) RunDirs(run string) []Key {
	dirs := []Key{l.RunDir(run)}
	raw := l.Runs().Join(strings.Join(strings.FieldsFunc(run, isSlash), "/"))
	if run == "" || run[0] == '/' || checkKey(string(raw)) != nil || raw == dirs[0] || raw == l.Runs() {
		return dirs
	}
	return append(dirs, raw)
}

func isSlash(r rune) bool { return r == '/' }

// CheckpointPath is the file in which Horovod's estimators keep the last checkpoint of a run.
func (l Layout) CheckpointPath(run string) Key { return l.RunDir(run).Join(l.CheckpointFilename()) }

// CheckpointFilename is the last element of CheckpointPath.
func (l Layout) CheckpointFilename() string { return cmp.Or(l.checkpoint, defaultCheckpoint) }

// CheckpointDir is the directory for any number of checkpoints of a run.
func (l Layout) CheckpointDir(run string) Key { return l.RunDir(run).Join(checkpointsSubdir) }

// LogsDir is the directory of what one attempt of one replica of a role printed.
func (l Layout) LogsDir(run, role string, replica, attempt int) Key {
	return l.logs(run).Join(EncodeRun(role), strconv.Itoa(replica), strconv.Itoa(attempt))
}

func (l Layout) logs(run string) Key { return l.RunDir(run).Join(logsSubdir) }

// Tracker is the root of the tracker.
func (l Layout) Tracker() Key { return "tracker" }

// Heirloom is the directory of all that is neither Horovod's nor TorchX's.
func (l Layout) Heirloom() Key { return "heirloom" }

// overrideKey reads an override: a key, or a URL or absolute path below root.
func overrideKey(root, given string) (Key, error) {
	if given == "" {
		return "", nil
	}
	text := strings.TrimRight(given, "/")
	if isLocation(given) {
		below, err := belowRoot(root, given)
		if err != nil {
			return "", err
		}
		text = below
	}
	if err := checkKey(text); err != nil {
		return "", fmt.Errorf("%s: %w", RedactURL(given), err)
	}
	return Key(text), nil
}

// isLocation tells URLs and absolute paths from keys.
func isLocation(s string) bool {
	_, _, isURL := cutScheme(s)
	return isURL || strings.HasPrefix(s, "/")
}

func belowRoot(root, given string) (string, error) {
	if root == "" {
		return "", fmt.Errorf("%s is a full path, and the root of the store is not known", RedactURL(given))
	}
	top, err := CanonicalURI(root, "")
	if err != nil {
		return "", err
	}
	full, err := CanonicalURI(given, "")
	if err != nil {
		return "", err
	}
	key, ok := strings.CutPrefix(full, strings.TrimSuffix(top, "/")+"/")
	if !ok {
		return "", fmt.Errorf("%s does not lie below %s; open the store at a directory that holds both", full, top)
	}
	return key, nil
}

func checkFilename(name string) error {
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		return errors.New("it holds a slash")
	}
	return checkKey(name)
}

// rootURL cuts the options of the connection and the last slash off a store's URL.
func rootURL(url string) string {
	if strings.HasPrefix(url, "s3://") || strings.HasPrefix(url, "gs://") {
		url, _, _ = strings.Cut(url, "?")
	}
	if strings.HasSuffix(url, "://") || strings.HasSuffix(url, ":///") || url == "/" {
		return url
	}
	return strings.TrimRight(url, "/")
}

// canonicalOr is the canonical form of a URL, or itself where it has none.
func canonicalOr(url string) string {
	if c, err := CanonicalURI(url, ""); err == nil {
		return c
	}
	return url
}
