package component_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/component"
	"github.com/heirloom-ml/heirloom/store"
)

// A user's own component goes before one that is built in, and that before a file.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"mine.toml": "mine", "echo.toml": "own echo", "bad.json": "{"} {
		if text != "{" {
			text = "help = '" + text + "'\n[[roles]]\nname = 'a'\nentrypoint = 'b'\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := component.Set{Dir: dir, Files: map[string]string{
		"utils.echo": filepath.Join(dir, "echo.toml"), "gone": filepath.Join(dir, "gone.toml"), "bad": filepath.Join(dir, "bad.json"),
	}}
	for name, want := range map[string]string{"utils.echo": "own echo", "utils.touch": "Make a file, or set its time (calls touch).", "mine.toml": "mine"} {
		c, err := set.Find(name)
		if err != nil || c.Summary() != want {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
		if c != nil && (c.Origin == "") != (name == "utils.touch") {
			t.Errorf("%s: origin %q", name, c.Origin)
		}
	}
	for name, want := range map[string]struct {
		kind error
		text string
	}{
		"utils.ehco": {store.ErrNotExist, "near: utils.echo"},
		"echo":       {store.ErrNotExist, "near: utils.echo"},
		"nothing":    {store.ErrNotExist, "known: bad, dist.ddp, dist.spmd"},
		"none.toml":  {store.ErrNotExist, "none.toml"},
		"bad":        {store.ErrInvalid, "bad.json"},
		"bad.json":   {store.ErrInvalid, "bad.json"},
		"gone":       {store.ErrInvalid, "gone.toml"},
	} {
		_, err := set.Find(name)
		if !errors.Is(err, want.kind) || !strings.Contains(err.Error(), want.text) || errors.Is(err, store.ErrNotExist) && errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: got %v, want %q of kind %v", name, err, want.text, want.kind)
		}
	}
}

func TestDefaults(t *testing.T) {
	set := component.Set{Defaults: map[string]map[string]any{
		"utils.echo":  {"msg": "from the file", "num-replicas": "2"},
		"utils.touch": {"file": "f"},
		"utils.sh":    {"cpus": "2"},
		"dist.ddp":    {"tee": "all"},
	}}
	app := make1(t, set, "utils.echo", "--num_replicas", "3")
	if app.Roles[0].Args[0] != "from the file" || app.Roles[0].NumReplicas != 3 {
		t.Errorf("got %s", jsonOf(app))
	}
	if app := make1(t, set, "utils.touch"); app.Roles[0].Args[0] != "f" {
		t.Errorf("got %s", jsonOf(app))
	}
	for name, want := range map[string]string{"utils.sh": `no parameter "cpus"`, "dist.ddp": `"all" is no whole number`} {
		if _, err := set.Find(name); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if app := make1(t, component.Set{}, "utils.echo"); app.Roles[0].Args[0] != "hello world" {
		t.Error("defaults of one set are those of another")
	}
}

func TestSetIsComponents(t *testing.T) {
	var components runner.Components = &component.Set{}
	app, err := components.Component(t.Context(), "utils.echo", []string{"--msg", "a"}, map[string]any{"msg": "b", "num-replicas": 2})
	if err != nil || app.Roles[0].Args[0] != "a" || app.Roles[0].NumReplicas != 2 {
		t.Errorf("got %+v, %v", app, err)
	}
	for _, bad := range []map[string]any{{"mesage": "b"}, {"num_replicas": "two"}, {"num_replicas": 1.5}, {"msg": []any{"a"}}} {
		if _, err := components.Component(t.Context(), "utils.echo", nil, bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}
