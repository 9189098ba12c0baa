package component_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/component"
	"github.com/heirloom-ml/heirloom/store"
)

const trainFile = "testdata/files/train.toml"

func TestFile(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"defaults", []string{"--data", "digits"}, `{"name":"train-digits","roles":[
			{"name":"trainer","entrypoint":"python","args":["train.py","--epochs=10","--mode","fast","--literal={{x}}","7"],
			"env":{"A":"${app_id}","N":"2"},"num_replicas":1,"max_retries":2,"retry_policy":"REPLICA",
			"resource":{"cpu":1,"gpu":0,"memMB":2048},"mounts":[{"type":"bind","src":"/digits","dst":"/data","read_only":true}]},
			{"name":"reader","entrypoint":"cat","num_replicas":1,"resource":{"cpu":2,"gpu":0,"memMB":100}}],"metadata":{"level":"3"}}`},
		{"all", []string{"--data=d", "--lr", "0.5", "--verbose", "--env", "N=9,B=b", "--team", "v", "--mode", "slow", "--nodes", "3", "-h", "gpu.small", "--epochs", "1", "--", "--x", "{{data}}"},
			`{"name":"train-d","roles":[
			{"name":"trainer","entrypoint":"python","args":["train.py","--epochs=1","--lr","0.5","-v","-v","--mode","slow","--literal={{x}}","7","--x","{{data}}"],
			"env":{"A":"${app_id}","B":"b","N":"2","T":"v"},"num_replicas":3,"max_retries":2,"retry_policy":"REPLICA",
			"resource":{"cpu":8,"gpu":1,"memMB":32768},"mounts":[{"type":"bind","src":"/d","dst":"/data","read_only":true}]},
			{"name":"reader","entrypoint":"cat","num_replicas":1,"resource":{"cpu":2,"gpu":0,"memMB":100}}],"metadata":{"level":"3","team":"v"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			app := make1(t, component.Set{}, append([]string{trainFile}, test.args...)...)
			var want runner.App
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if got, want := jsonOf(app), jsonOf(want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// The same component as JSON.
func TestJSONFile(t *testing.T) {
	body := `{"params": {"n": {"type": "int", "default": 2}}, "roles": [{"name": "a", "entrypoint": "b", "args": [1, 0.5, true], "num_replicas": "{{n}}"}]}`
	c, err := component.Parse("x", []byte(body), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	app, err := c.App(component.Values{"n": json.Number("x")})
	if !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, %v", app, err)
	}
	app, err = c.App(component.Values{"n": float64(3)})
	if err != nil || app.Roles[0].NumReplicas != 3 || strings.Join(app.Roles[0].Args, " ") != "1 0.5 true" {
		t.Errorf("got %+v, %v", app, err)
	}
}

// What is wrong with a file is said before anything is launched, with the place.
func TestFileIsChecked(t *testing.T) {
	const role = "\n[[roles]]\nname = 'a'\nentrypoint = 'b'\n"
	tests := []struct{ name, body, want string }{
		{"syntax", "help = \n", "line 1"},
		{"unknown key", "hlep = 'x'" + role, `unknown key "hlep"`},
		{"no roles", "help = 'x'", "there are no [[roles]]"},
		{"role is no table", "roles = ['a']", "roles[0]"},
		{"unknown field of a role", role + "entry = 'c'", `unknown field "entry"`},
		{"wrong type in a role", role + "num_replicas = 'many'", "num_replicas"},
		{"text for a number", role + "num_replicas = '{{p}}'\n[params.p]", "num_replicas"},
		{"unknown parameter", role + "args = ['{{lr}}']", `no parameter "lr"`},
		{"broken mark", role + "args = ['{{ lr']", "begins no parameter"},
		{"unknown type", role + "[params.p]\ntype = 'uint'", `params.p: no type "uint"`},
		{"default of another type", role + "[params.p]\ntype = 'int'\ndefault = 'x'", "params.p: default"},
		{"required with a default", role + "[params.p]\nrequired = true\ndefault = 'x'", "required and has a default"},
		{"default that is no choice", role + "[params.p]\nchoices = ['a']\ndefault = 'x'", `"x" is not one of a`},
		{"rest that is no list", role + "[params.p]\nrest = true", "what takes the rest"},
		{"two rests", role + "[params.p]\nrest = true\ntype = 'list'\n[params.q]\nrest = true\ntype = 'list'", "more than one"},
		{"two names alike", role + "[params.a-b]\n[params.a_b]", "the name is taken"},
		{"a name taken", role + "[params.help]", "the name is taken"},
		{"bad name", role + "[params.'a b']", "a name is made of"},
		{"unknown key of a parameter", role + "[params.p]\ndflt = 1", `unknown key "dflt"`},
		{"named resource", role + "resource = 'gpu.smal'", "gpu.small"},
		{"mount", role + "mounts = ['src=/a']", "mount"},
		{"condition", role + "args = [{when = 'p'}]\n[params.p]", "a condition is written"},
		{"unknown in what is not wanted", role + "args = [{when = 'p', args = ['{{q}}']}]\n[params.p]\ntype = 'bool'\ndefault = false", `no parameter "q"`},
		{"dots for text", role + "env = { '...' = 'x' }", `"..."`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(file, []byte(test.body), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := component.Load(file, nil)
			if !errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrNotExist) && test.name != "named resource" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q of kind ErrInvalid", err, test.want)
			} else if !strings.Contains(err.Error(), file) {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
}

// Whatever a file holds, it is a component or an error of kind ErrInvalid, and a component makes an App of samples.
func FuzzParse(f *testing.F) {
	body, err := os.ReadFile(trainFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body, false)
	f.Add([]byte(`{"params": {"n": {"type": "int"}}, "roles": [{"name": "a", "entrypoint": "b", "args": ["{{n}}", ["{{n}}"]]}]}`), true)
	f.Add([]byte("[[roles]]\nenv = { '...' = '{{p}}' }\nargs = [{when = 'p', args = [1]}]\n[params.p]\ntype = 'dict'"), false)
	f.Fuzz(func(t *testing.T, body []byte, isJSON bool) {
		c, err := component.Parse("c", body, isJSON, nil)
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("%v is not of kind ErrInvalid", err)
			}
			return
		}
		_ = c.Usage("heirloom run")
		if _, err := c.App(nil); err != nil && !errors.Is(err, store.ErrInvalid) {
			t.Fatalf("%v is not of kind ErrInvalid", err)
		}
	})
}
