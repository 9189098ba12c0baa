//go:build unix

package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// environOf runs env under the launcher and gives what it saw, less what no run
// sets, with what differs from run to run named.
func environOf(t *testing.T, l *Launcher, job Job) (map[string]string, Started, Result) {
	t.Helper()
	var started Started
	var out strings.Builder
	job.Stdout = &out
	job.Args = []string{"sh", "-c", `env; echo CONFIG=; cat $TORCHX_TRACKER_FSSPEC_CONFIG </dev/null
test -d "$HEIRLOOM_OUTPUT_DIR" && test -d "$HEIRLOOM_CHECKPOINT_DIR" && echo DIRS=exist`}
	result, err := l.Run(t.Context(), job, func(s Started) { started = s })
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("got %+v, %v", result, err)
	}
	seen := map[string]string{}
	last := ""
	for line := range strings.Lines(out.String()) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if ok && last != "CONFIG" || name == "DIRS" {
			last = name
			seen[name] = value
			continue
		}
		seen[last] += line
	}
	return seen, started, result
}

func TestEnviron(t *testing.T) {
	root := t.TempDir()
	l := newLauncher(t, root, nil)
	job := sh("")
	job.Environ = append(job.Environ, "HEIRLOOM_METRICS=/old", "KEPT=yes")
	seen, started, result := environOf(t, l, job)
	for _, name := range []string{"PATH", "PWD", "SHLVL", "_", "OLDPWD"} {
		delete(seen, name)
	}
	out := filepath.Join(root, "runs", store.EncodeRun(string(result.RunID)))
	config := seen[envFsspec]
	if seen[envLaunch] == "" {
		t.Errorf("%s is not set", envLaunch)
	}
	delete(seen, envLaunch)
	want := map[string]string{
		"USER": "ann", "KEPT": "yes", "PYTHONUNBUFFERED": "x", "DIRS": "exist",
		"HEIRLOOM_STORE": "file://" + root, "HEIRLOOM_ATTEMPT": "1", "HEIRLOOM_RUN_ID": string(result.RunID), "HEIRLOOM_OUTPUT_DIR": out,
		"HEIRLOOM_CHECKPOINT_DIR": filepath.Join(out, "checkpoints"), "HEIRLOOM_METRICS": filepath.Join(out, "metrics.jsonl"),
		"TORCHX_JOB_ID": string(result.RunID), "TORCHX_TRACKERS": "fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG": config,
		"CONFIG": "# written by heirloom for one run\nprotocol=file\nroot_path=" + root + "/tracker\n",
	}
	for name, value := range seen {
		if want[name] != value {
			t.Errorf("%s=%q, want %q", name, value, want[name])
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d variables, want %d: %v", len(seen), len(want), seen)
	}
	if started.OutputDir != out || len(started.Notices) != 0 {
		t.Errorf("got %+v", started)
	}
	if _, err := os.Stat(config); err == nil || !strings.HasPrefix(config, l.TempDir) {
		t.Errorf("the configuration %s stays", config)
	}
	if _, err := os.Stat(filepath.Join(out, "checkpoints")); err == nil {
		t.Error("the empty directory of checkpoints stays")
	}
}

func TestTorchXTrackers(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.conf")
	if err := os.WriteFile(own, []byte("protocol=file\nroot_path=/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	surrounding := filepath.Join(t.TempDir(), "outer.conf")
	if err := os.WriteFile(surrounding, []byte(ours+"\nprotocol=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		environ  []string
		trackers string
		config   string // "" = a new one
		notices  int
	}{
		{"none", nil, "fsspec", "", 0},
		{"another", []string{"TORCHX_TRACKERS=mlflow"}, "mlflow,fsspec", "", 0},
		{"their fsspec", []string{"TORCHX_TRACKERS=fsspec,x", "TORCHX_TRACKER_FSSPEC_CONFIG=" + own}, "fsspec,x", own, 1},
		{"their fsspec, elsewhere", []string{"TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=s3://b/c"}, "fsspec", "s3://b/c", 1},
		{"their configuration alone", []string{"TORCHX_TRACKER_FSSPEC_CONFIG=" + own}, "", own, 1},
		{"that of a surrounding run", []string{"TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + surrounding}, "fsspec", "", 0},
	}
	l := newLauncher(t, t.TempDir(), nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := sh("")
			job.Environ = append(job.Environ, tt.environ...)
			job.Args = []string{"sh", "-c", `echo "$TORCHX_TRACKERS $TORCHX_TRACKER_FSSPEC_CONFIG"`}
			var out strings.Builder
			var started Started
			job.Stdout = &out
			if _, err := l.Run(t.Context(), job, func(s Started) { started = s }); err != nil {
				t.Fatal(err)
			}
			trackers, config, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), " ")
			fresh := strings.HasPrefix(config, l.TempDir)
			if trackers != tt.trackers || fresh != (tt.config == "") || (!fresh && config != tt.config) || len(started.Notices) != tt.notices {
				t.Errorf("got %q %q %q", trackers, config, started.Notices)
			}
		})
	}
}

func TestParent(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	tests := []struct {
		name    string
		environ []string
		named   tracker.RunID
		want    string
	}{
		{"none", nil, "", ""},
		{"surrounding run", []string{"HEIRLOOM_RUN_ID=a", "TORCHX_JOB_ID=b", "HEIRLOOM_PARENT_RUN_ID=c"}, "", "a"},
		{"surrounding TorchX job", []string{"TORCHX_JOB_ID=b", "TORCHX_PARENT_RUN_ID=d"}, "", "b"},
		{"exported parent", []string{"HEIRLOOM_PARENT_RUN_ID=c", "TORCHX_PARENT_RUN_ID=d"}, "", "c"},
		{"exported TorchX parent", []string{"TORCHX_PARENT_RUN_ID=d"}, "", "d"},
		{"named", []string{"HEIRLOOM_RUN_ID=a"}, "e", "e"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := sh("")
			job.Environ, job.Parent = append(job.Environ, tt.environ...), tt.named
			seen, _, result := environOf(t, l, job)
			heirloom, set := seen[envParent]
			if torchx := seen[envTorchXParent]; heirloom != tt.want || torchx != tt.want || set != (tt.want != "") {
				t.Errorf("the job sees %q and %q (set: %v), want %q", heirloom, torchx, set, tt.want)
			}
			var parents []string
			for _, s := range readRun(t, l, result.RunID).Sources {
				parents = append(parents, string(s.ID)+" "+string(s.Role))
			}
			if want := tt.want + " parent"; tt.want != "" && !slices.Equal(parents, []string{want}) || tt.want == "" && len(parents) > 0 {
				t.Errorf("sources %v", parents)
			}
		})
	}
	job := sh("true")
	job.Environ = append(job.Environ, "TORCHX_JOB_ID="+strings.Repeat("x", 200))
	if _, err := l.Run(t.Context(), job, nil); err == nil || !strings.Contains(err.Error(), "TORCHX_JOB_ID") {
		t.Errorf("bad parent: %v", err)
	}
}
