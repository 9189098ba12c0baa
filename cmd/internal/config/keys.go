package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Keys of the settings, as files and config explain spell them.
const (
	Store          = "store"
	Tracker        = "tracker"
	Run            = "run"
	ParentRun      = "parent_run"
	Project        = "project"
	Experiment     = "experiment"
	Hash           = "hash"
	Grace          = "grace"
	TrainPath      = "layout.train_path"
	ValPath        = "layout.val_path"
	TestPath       = "layout.test_path"
	RunsPath       = "layout.runs_path"
	SaveRuns       = "layout.save_runs"
	CheckpointFile = "layout.checkpoint_filename"
	Scheduler      = "default_scheduler"
)

// setting describes one key: the variables that may hold it, and what it may be.
type setting struct {
	key      string
	environ  string // the HEIRLOOM_* variable
	torchx   string // the TORCHX_* variable of the same meaning; "" = none
	inFile   bool   // false: belongs to one job, so a file may not hold it
	fallback string
	check    func(text string) error // nil = any text
}

// settings is the table of all keys, in the order in which config explain lists them.
func settings() []setting {
	return []setting{
		{key: Store, environ: "HEIRLOOM_STORE", inFile: true},
		{key: Tracker, environ: "HEIRLOOM_TRACKER", inFile: true},
		{key: Run, environ: "HEIRLOOM_RUN_ID", torchx: "TORCHX_JOB_ID"},
		{key: ParentRun, environ: "HEIRLOOM_PARENT_RUN_ID", torchx: "TORCHX_PARENT_RUN_ID"},
		{key: Project, environ: "HEIRLOOM_PROJECT", inFile: true},
		{key: Experiment, environ: "HEIRLOOM_EXPERIMENT", torchx: "TORCHX_TRACKING_EXPERIMENT_NAME", inFile: true},
		{key: Hash, environ: "HEIRLOOM_HASH", inFile: true, fallback: "sha256", check: oneOf("sha256", "size", "none")},
		{key: Grace, environ: "HEIRLOOM_GRACE", inFile: true, fallback: "30s", check: isDuration},
		{key: TrainPath, environ: "HEIRLOOM_TRAIN_PATH", inFile: true},
		{key: ValPath, environ: "HEIRLOOM_VAL_PATH", inFile: true},
		{key: TestPath, environ: "HEIRLOOM_TEST_PATH", inFile: true},
		{key: RunsPath, environ: "HEIRLOOM_RUNS_PATH", inFile: true},
		{key: SaveRuns, environ: "HEIRLOOM_SAVE_RUNS", inFile: true, check: isBool},
		{key: CheckpointFile, environ: "HEIRLOOM_CHECKPOINT_FILENAME", inFile: true},
		{key: Scheduler, environ: "HEIRLOOM_SCHEDULER", inFile: true, fallback: "local"},
	}
}

// fileKeys lists the keys that a file may hold, for error messages.
func fileKeys() []string {
	var keys []string
	for _, s := range settings() {
		if s.inFile {
			keys = append(keys, s.key)
		}
	}
	return keys
}

func oneOf(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		return fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
	}
}

func isDuration(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 30s or 2m", text)
	}
	return nil
}

func isBool(text string) error {
	if _, err := strconv.ParseBool(text); err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	return nil
}

// IsVariable reports whether a name that begins with HEIRLOOM_ is one that heirloom, its jobs or its tests read.
func IsVariable(name string) bool {
	for _, s := range settings() {
		if s.environ == name {
			return true
		}
	}
	switch name {
	case "HEIRLOOM_OUTPUT_DIR", "HEIRLOOM_CHECKPOINT_DIR", "HEIRLOOM_METRICS", "HEIRLOOM_ATTEMPT", "HEIRLOOM_LAUNCH", "HEIRLOOM_DATASET_DIR", "HEIRLOOM_STRESS", "HEIRLOOM_MUST_RUN":
		return true
	}
	return strings.HasPrefix(name, "HEIRLOOM_TEST_") || strings.HasPrefix(name, "HEIRLOOM_BENCH_")
}
