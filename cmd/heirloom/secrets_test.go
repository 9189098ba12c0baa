package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/planted"
)

// TestNoSecretReachesTheDisk gives all kinds of secrets to heirloom run and add,
// and looks for them in the store, in what was printed, and in the state of the
// user.
func TestNoSecretReachesTheDisk(t *testing.T) {
	secrets := planted.Many(rand.New(rand.NewPCG(11, 12)), 0, storetest.Rounds(10_000))
	params := testscript.Params{
		Dir: t.TempDir(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"leak": func(ts *testscript.TestScript, _ bool, _ []string) {
				for some := range slices.Chunk(secrets, 20) {
					leakByCommands(ts, some)
				}
				found, err := planted.Find(ts.MkAbs("."), secrets)
				ts.Check(err)
				if len(found) > 0 {
					ts.Fatalf("%d leaks:\n%s", len(found), strings.Join(found, "\n"))
				}
			},
		},
	}
	if err := os.WriteFile(filepath.Join(params.Dir, "leak.txtar"), []byte("[!unix] skip 'no true'\nleak\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, params)
}

// leakByCommands runs a job with some secrets, and adds one more by hand. What the
// commands print is kept, so that it is searched too.
func leakByCommands(ts *testscript.TestScript, secrets []planted.Secret) {
	args := []string{"run", "--store", "s", "--json", "--run", "local://torchx/leak", "--hash", "none"}
	job := []string{"--", "true"}
	var url string
	for _, s := range secrets {
		job = append(job, s.Args...)
		name, value, ok := strings.Cut(s.Env, "=")
		if ok {
			ts.Setenv(name, value)
		}
		if s.URL != "" && !strings.Contains(s.URL, "%0A") {
			url = s.URL
			args = append(args, "--input", url, "--output", url, "--param", "place="+url)
		}
	}
	commands := [][]string{append(args, job...)}
	if url != "" {
		commands = append(commands, []string{"add", "input", "--store", "s", "--run", "local://torchx/leak", "--name", "in", "--uri", url},
			[]string{"add", "artifact", "--store", "s", "--run", "local://torchx/leak", "out", url})
	}
	for _, command := range commands {
		if err := ts.Exec("heirloom", command...); err != nil {
			ts.Fatalf("heirloom %q: %v", command, err)
		}
		out, err := os.OpenFile(ts.MkAbs("printed"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		ts.Check(err)
		_, err = out.WriteString(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
		ts.Check(err)
		ts.Check(out.Close())
	}
}
