package config_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/store"
)

// tree writes files (a name ending in "/" is a directory) below a new directory; work/sub is the working directory.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, body := range files {
		path := filepath.Join(root, name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == path {
			continue
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func load(t *testing.T, root string, flags map[string]string, environ ...string) (*config.Config, error) {
	t.Helper()
	dir := filepath.Join(root, "work", "sub")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Input{
		Flags: flags, Dir: dir, Environ: append([]string{"HOME=" + filepath.Join(root, "home")}, environ...),
		TrackerRoot: func(file string) (string, error) { return "root-of-" + file, nil },
	})
}

func TestNearestLevelDecidesThePlace(t *testing.T) {
	user := "home/.config/heirloom/config.toml"
	all := map[string]string{"work/heirloom.toml": `store = "s3://project/p"`, user: `store = "s3://user/u"`}
	torchx := []string{"TORCHX_TRACKERS=other,fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=/f"}
	tests := []struct {
		name           string
		files, flags   map[string]string
		environ        []string
		store, tracker string // ROOT stands for the root of the tree
		level          config.Level
	}{
		{"flag", all, map[string]string{"store": "gs://flag"}, []string{"HEIRLOOM_STORE=s3://env"}, "gs://flag", "", config.LevelFlag},
		{"flag of the tracker hides the store", all, map[string]string{"tracker": "/t"}, []string{"HEIRLOOM_STORE=s3://env"}, "", "/t", config.LevelFlag},
		{"flag of the store hides the tracker", all, map[string]string{"store": "/s"}, []string{"HEIRLOOM_TRACKER=s3://env"}, "/s", "", config.LevelFlag},
		{"environment", all, nil, append(torchx, "HEIRLOOM_STORE=s3://env"), "s3://env", "", config.LevelEnviron},
		{"environment names both", all, nil, []string{"HEIRLOOM_STORE=/s", "HEIRLOOM_TRACKER=/t"}, "/s", "/t", config.LevelEnviron},
		{"an empty variable is unset", all, nil, []string{"HEIRLOOM_STORE="}, "s3://project/p", "", config.LevelProject},
		{"torchx", all, nil, torchx, "", "root-of-/f", config.LevelTorchX},
		{"torchx with another tracker", all, nil, []string{"TORCHX_TRACKERS=fsspec2", torchx[1]}, "s3://project/p", "", config.LevelProject},
		{"project file", all, nil, nil, "s3://project/p", "", config.LevelProject},
		{"dot file", map[string]string{"work/.heirloom": `tracker = "../t"`}, nil, nil, "", "ROOT/t", config.LevelProject},
		{"path in a file is relative to it", map[string]string{"work/heirloom.toml": `store = "data"`}, nil, nil, "ROOT/work/data", "", config.LevelProject},
		{"path in the environment is relative to here", nil, nil, []string{"HEIRLOOM_STORE=data"}, "ROOT/work/sub/data", "", config.LevelEnviron},
		{"home in a file", map[string]string{"work/heirloom.toml": `store = "~/data"`}, nil, nil, "ROOT/home/data", "", config.LevelProject},
		{"store directory above", map[string]string{"work/.heirloom/": "", user: `store = "s3://user/u"`}, nil, nil, "ROOT/work/.heirloom", "", config.LevelProject},
		{"file beside a store directory", map[string]string{"work/.heirloom/": "", "work/heirloom.toml": `store = "/s"`}, nil, nil, "/s", "", config.LevelProject},
		{"nearer store directory", map[string]string{"work/sub/.heirloom/": "", "work/heirloom.toml": `tracker = "/s"`}, nil, nil, "ROOT/work/sub/.heirloom", "", config.LevelProject},
		{"farther store directory", map[string]string{".heirloom/": "", "work/heirloom.toml": `store = "/s"`}, nil, nil, "/s", "", config.LevelProject},
		{"user's file", map[string]string{user: `store = "s3://user/u"`}, nil, nil, "s3://user/u", "", config.LevelUser},
		{"XDG_CONFIG_HOME", map[string]string{"xdg/heirloom/config.toml": `store = "/x"`}, nil, []string{"XDG_CONFIG_HOME=ROOT/xdg"}, "/x", "", config.LevelUser},
		{"default", nil, nil, nil, "ROOT/work/sub/.heirloom", "", config.LevelDefault},
		{"default beside the project's file", map[string]string{"work/heirloom.toml": `project = "digits"`}, nil, nil, "ROOT/work/.heirloom", "", config.LevelDefault},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files)
			put := strings.NewReplacer("ROOT", root)
			var environ []string
			for _, e := range test.environ {
				environ = append(environ, put.Replace(e))
			}
			c, err := load(t, root, test.flags, environ...)
			if err != nil {
				t.Fatal(err)
			}
			s, tr := c.Get(config.Store), c.Get(config.Tracker)
			if s.Text != put.Replace(test.store) || tr.Text != put.Replace(test.tracker) {
				t.Errorf("store %q, tracker %q; want %q, %q", s.Text, tr.Text, put.Replace(test.store), put.Replace(test.tracker))
			}
			named := s
			if test.store == "" {
				named = tr
			}
			if named.Origin.Level != test.level {
				t.Errorf("origin %s, want %s", named.Origin, test.level)
			}
		})
	}
}

func TestOtherKeysResolveOneByOne(t *testing.T) {
	root := tree(t, map[string]string{
		"work/heirloom.toml":                "project = \"digits\"\nhash = \"none\"\n[layout]\nsave_runs = false\nruns_path = \"r\"\n",
		"home/.config/heirloom/config.toml": "project = \"mine\"\ngrace = \"3m\"\n",
	})
	c, err := load(t, root, nil, "HEIRLOOM_HASH=size", "TORCHX_JOB_ID=local://torchx/a", "TORCHX_TRACKING_EXPERIMENT_NAME=exp")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range c.Values() {
		if v.Text != "" && v.Key != config.Store {
			got[v.Key] = v.Text + " from " + v.Origin.String()
		}
	}
	file := "project " + filepath.Join(root, "work", "heirloom.toml")
	want := map[string]string{
		config.Run:        "local://torchx/a from torchx TORCHX_JOB_ID",
		config.Experiment: "exp from torchx TORCHX_TRACKING_EXPERIMENT_NAME",
		config.Project:    "digits from " + file,
		config.Hash:       "size from environment HEIRLOOM_HASH",
		config.Grace:      "3m from user " + filepath.Join(root, "home", ".config", "heirloom", "config.toml"),
		config.SaveRuns:   "false from " + file,
		config.RunsPath:   "r from " + file,
		config.Scheduler:  "local from default",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if n := len(c.Files()); n != 2 {
		t.Errorf("%d files read, want 2", n)
	}
}

func TestBadInputNamesThePlace(t *testing.T) {
	file := "work/heirloom.toml"
	tests := []struct {
		name    string
		files   map[string]string
		environ string
		want    []string
	}{
		{"unknown key", map[string]string{file: "project = \"a\"\nstroe = \"b\"\n"}, "", []string{"heirloom.toml:2", `"stroe"`, "store, tracker"}},
		{"unknown key in a table", map[string]string{file: "[layout]\nrun_path = \"b\"\n"}, "", []string{"heirloom.toml:2", `"layout.run_path"`, "layout.runs_path"}},
		{"key of one job only", map[string]string{file: "run = \"b\"\n"}, "", []string{"heirloom.toml:1", `"run"`}},
		{"syntax", map[string]string{file: "project = \n"}, "", []string{"heirloom.toml:1:"}},
		{"type", map[string]string{file: "\nproject = 3\n"}, "", []string{"heirloom.toml:2:"}},
		{"value in a file", map[string]string{file: "hash = \"md5\"\n"}, "", []string{"heirloom.toml", `"md5"`, "sha256, size, none"}},
		{"value in a variable", nil, "HEIRLOOM_GRACE=soon", []string{"HEIRLOOM_GRACE", `"soon"`, "30s"}},
		{"truth in a variable", nil, "HEIRLOOM_SAVE_RUNS=perhaps", []string{"HEIRLOOM_SAVE_RUNS", `"perhaps"`}},
		{"two files", map[string]string{file: "", "work/.heirloom": ""}, "", []string{"heirloom.toml", ".heirloom", "keep one"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := load(t, tree(t, test.files), nil, test.environ)
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("error %v, want kind invalid", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestTorchXFileIsReadOnlyWhereItDecides(t *testing.T) {
	in := config.Input{
		Dir: t.TempDir(), Environ: []string{"TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=/gone", "HEIRLOOM_STORE=/s"},
		TrackerRoot: func(string) (string, error) { return "", os.ErrNotExist },
	}
	if _, err := config.Load(in); err != nil {
		t.Errorf("with HEIRLOOM_STORE: %v, want the file not to be read", err)
	}
	in.Environ = in.Environ[:2]
	if _, err := config.Load(in); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TORCHX_TRACKER_FSSPEC_CONFIG") {
		t.Errorf("without it: %v, want not found naming the variable", err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("store = \"a\"\n[layout]\nsave_runs = true\n"))
	f.Add([]byte("a.b = [1, {c = 2}]"))
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "heirloom.toml"), body, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Input{Dir: dir})
		if err != nil && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("error %v, want kind invalid", err)
		}
	})
}
