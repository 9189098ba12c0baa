package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/store"
)

// TestTorchXFiles is about the tracker that TorchX's own configuration means.
func TestTorchXFiles(t *testing.T) {
	const here, home = "work/sub/.torchxconfig", "home/.torchxconfig"
	named := "[torchx:tracker]\nfsspec =\n[tracker:fsspec]\nconfig = /%s\n"
	file := func(config string) string { return strings.ReplaceAll(named, "%s", config) }
	tests := []struct {
		name    string
		files   map[string]string
		environ []string
		tracker string // "" is none
	}{
		{"here", map[string]string{here: file("a")}, nil, "root-of-/a"},
		{"at home", map[string]string{home: file("a")}, nil, "root-of-/a"},
		{"home before here", map[string]string{home: file("a"), here: file("b")}, nil, "root-of-/a"},
		{"each says a part", map[string]string{home: "[tracker:fsspec]\nconfig: /a\n", here: file("b")}, nil, "root-of-/a"},
		{"named", map[string]string{here: file("b"), "x.ini": file("c")}, []string{"TORCHXCONFIG=ROOT/x.ini"}, "root-of-/c"},
		{"none wanted", map[string]string{here: file("b")}, []string{"TORCHXCONFIG="}, ""},
		{"variable of the list", map[string]string{here: file("b")}, []string{"TORCHX_TRACKERS=other"}, ""},
		{"variable of the configuration", map[string]string{here: file("b")}, []string{"TORCHX_TRACKER_FSSPEC_CONFIG=/v"}, "root-of-/v"},
		{"alias", map[string]string{here: "[torchx:tracker]\nmlflow =\nmine = fsspec\n[tracker:mine]\nconfig = /m\n"}, nil, "root-of-/m"},
		{"module", map[string]string{here: "[torchx:tracker]\nmine = torchx.tracker.backend.fsspec:create\n[tracker:mine]\nconfig = /m\n"}, nil, "root-of-/m"},
		{"not ours", map[string]string{here: "[torchx:tracker]\nmlflow =\n[tracker:mlflow]\nconfig = /m\n"}, nil, ""},
		{"percent signs and comments", map[string]string{here: "# c\n; c\n[torchx:tracker]\nfsspec=\n[tracker:fsspec]\nconfig = /50%%/20%\n[cli:run]\ncomponent = a\n  b\n"}, nil, "root-of-/50%/20%"},
		{"heirloom's own goes before", map[string]string{here: file("a")}, []string{"HEIRLOOM_TRACKER=/t"}, "/t"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files)
			var environ []string
			for _, e := range test.environ {
				environ = append(environ, strings.ReplaceAll(e, "ROOT", root))
			}
			c, err := load(t, root, nil, environ...)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Get(config.Tracker); got.Text != test.tracker {
				t.Errorf("tracker %q from %s, want %q", got.Text, got.Origin, test.tracker)
			}
		})
	}
}

// TestTorchXScheduler is about that of [cli:run].
func TestTorchXScheduler(t *testing.T) {
	const here, ours = "work/sub/.torchxconfig", "work/heirloom.toml"
	said := "[cli:run]\nscheduler = kubernetes\n"
	tests := []struct {
		name, torchx string
		environ      []string
		want         string
		level        config.Level
	}{
		{"before our file", said, nil, "kubernetes", config.LevelTorchX},
		{"with a store that is named", said, []string{"HEIRLOOM_STORE=/s"}, "kubernetes", config.LevelTorchX},
		{"after our variable", said, []string{"HEIRLOOM_SCHEDULER=local"}, "local", config.LevelEnviron},
		{"None", "[cli:run]\nscheduler = None\n", nil, "slurm", config.LevelProject},
		{"of another command", "[cli:list]\nscheduler = x\n", nil, "slurm", config.LevelProject},
		{"a file that decides nothing else need not be readable", "nonsense", []string{"HEIRLOOM_STORE=/s"}, "slurm", config.LevelProject},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := load(t, tree(t, map[string]string{here: test.torchx, ours: `default_scheduler = "slurm"`}), nil, test.environ...)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Get(config.Scheduler); got.Text != test.want || got.Origin.Level != test.level {
				t.Errorf("%s from %s, want %s from %s", got.Text, got.Origin, test.want, test.level)
			}
		})
	}
}

// TestTorchXOthers lists what is beside the tracker that is read.
func TestTorchXOthers(t *testing.T) {
	const here = "work/sub/.torchxconfig"
	aliases := "[torchx:tracker]\nmine = fsspec\nyours = fsspec\n[tracker:mine]\nconfig = /m\n[tracker:yours]\nconfig = /y\n"
	tests := []struct {
		name, file string
		environ    []string
		tracker    string
		others     string
	}{
		{"one", aliases, []string{"TORCHX_TRACKERS=mine"}, "root-of-/m", ""},
		{"two of the file", aliases, nil, "root-of-/m", "yours true /y"},
		{"of the list, each once", aliases, []string{"TORCHX_TRACKERS=mlflow, yours,mine,,yours"}, "root-of-/y", "mlflow false , mine true /m"},
		{"without a configuration", "", []string{"TORCHX_TRACKERS=fsspec,a.b:c", "TORCHX_TRACKER_A.B:C_CONFIG=/c"}, "", "fsspec true , a.b:c false /c"},
		{"module", "", []string{"TORCHX_TRACKERS=torchx.tracker.backend.fsspec:create", "TORCHX_TRACKER_TORCHX.TRACKER.BACKEND.FSSPEC:CREATE_CONFIG=/c"}, "root-of-/c", ""},
		{"heirloom's own place", aliases, []string{"HEIRLOOM_STORE=/s"}, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := load(t, tree(t, map[string]string{here: test.file}), nil, test.environ...)
			if err != nil {
				t.Fatal(err)
			}
			var others []string
			for _, o := range c.Others() {
				others = append(others, fmt.Sprintf("%s %v %s", o.Name, o.Fsspec, o.Config))
			}
			if got := strings.Join(others, ", "); got != test.others || c.Get(config.Tracker).Text != test.tracker {
				t.Errorf("tracker %q, beside it %q, want %q and %q", c.Get(config.Tracker).Text, got, test.tracker, test.others)
			}
		})
	}
}

func TestTorchXFilesBad(t *testing.T) {
	for name, body := range map[string]string{
		"before a section": "a = b\n", "no section's end": "[a\n", "no value": "[a]\nb\n", "nothing to continue": "[a]\n  b\n",
	} {
		_, err := load(t, tree(t, map[string]string{"work/sub/.torchxconfig": body}), nil)
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), ".torchxconfig:") {
			t.Errorf("%s: %v, want a line of the file", name, err)
		}
	}
	if _, err := load(t, t.TempDir(), nil, "TORCHXCONFIG="+filepath.Join(t.TempDir(), "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is named and missing: %v", err)
	}
}
