package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heirloom": patient})
}

// patient is main on a busy machine: indexes stay young, however long a script takes, and a signal may come late.
func patient() {
	os.Exit(execute(context.Background(), process{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), args: os.Args[1:], workdir: os.Getwd,
		maxAge: 24 * time.Hour, lastWord: 3 * time.Second,
	}))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, scripts("testdata/script"))
}

// scripts are the parameters of every script: a home of its own, $CONTROL and $LONG, a key with an escape sequence and
// one of 1,024 bytes, and the commands below.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("CONTROL", "a\x1b[31mb")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("LONG", strings.Repeat(strings.Repeat("k", 254)+"/", 4)+"klmn")
			return os.Chmod(env.WorkDir, 0o777)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"capture": capture,
			"json":    jsonIs,
			"lines":   lines,
			"nobody":  nobody,
			"member":  member,
			"shape":   shape,

			"parquet":   parquet,
			"copystore": copyStore,
			"ring":      ring,
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	}
}

// exits CODE PROGRAM ARG...: the program ends with just this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := codeOf(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func codeOf(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("%v", err)
	return -1
}

// capture NAME FILE REGEXP: sets a variable to the first group of the first match; FILE may be stdout or stderr.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture NAME FILE REGEXP")
	}
	match := regexp.MustCompile(args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if len(match) < 2 {
		ts.Fatalf("%s does not match %s", args[1], args[2])
	}
	ts.Setenv(args[0], match[1])
}

// json PATH WANT: the value at a path such as runs.0.state, in the document on stdout, is WANT (text, or JSON).
// A WANT of "-" says that the path is absent. "json -stderr PATH WANT" reads stderr.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	file := "stdout"
	if len(args) > 0 && args[0] == "-stderr" {
		file, args = "stderr", args[1:]
	}
	if len(args) != 2 {
		ts.Fatalf("usage: json [-stderr] PATH WANT")
	}
	var document any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &document))
	got, found := at(document, strings.Split(args[0], "/"))
	text, isText := got.(string)
	if !isText {
		body, err := json.Marshal(got)
		ts.Check(err)
		text = string(body)
	}
	if !found {
		text = "-"
	}
	if (text == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], text, args[1])
	}
}

// at follows a path of keys and indices; "len" is the length of a list.
func at(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return nil, false
			}
			value = inner
		case []any:
			if key == "len" {
				value = len(v)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// lines FILE N: the file has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], got, args[1])
	}
}
