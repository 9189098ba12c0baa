package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name    string
		err     error
		code    int
		runCode int
		kind    string
	}{
		{"none", nil, 0, 0, "other"},
		{"unknown", errors.New("x"), 1, 125, "other"},
		{"usage", usagef("heirloom", "x"), 2, 125, "usage"},
		{"invalid", invalidf("x"), 2, 125, "usage"},
		{"not found", store.ErrNotExist, 3, 125, "not_found"},
		{"exists", store.ErrExist, 4, 125, "conflict"},
		{"changed", store.ErrConflict, 4, 125, "conflict"},
		{"ambiguous", &tracker.AmbiguousError{Text: "x"}, 4, 125, "conflict"},
		{"permission", store.ErrPermission, 5, 125, "permission"},
		{"corrupt", store.ErrCorrupt, 6, 125, "corrupt"},
		{"unavailable", store.ErrUnavailable, 7, 125, "unavailable"},
		{"no space", store.ErrNoSpace, 1, 125, "other"},
		{"unsupported", store.ErrUnsupported, 1, 125, "other"},
		{"interrupted", context.Canceled, 130, 130, "interrupted"},
		{"the job's own", jobExit{code: 9}, 9, 9, "other"},
		{"not executable", runner.ErrNotExecutable, 126, 126, "not_executable"},
		{"no command", runner.ErrNotFound, 127, 127, "not_found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.err
			if err != nil {
				err = fmt.Errorf("on the way: %w", &advised{err: err, advice: "none"})
			}
			if got := exitCode(err); got != test.code {
				t.Errorf("exit code %d, want %d", got, test.code)
			}
			if got := runExitCode(err); got != test.runCode {
				t.Errorf("exit code of run %d, want %d", got, test.runCode)
			}
			if got := kindName(err); got != test.kind {
				t.Errorf("kind %q, want %q", got, test.kind)
			}
		})
	}
}

func TestJoinedErrorsAreOneSentence(t *testing.T) {
	var errs bytes.Buffer
	a := &app{process: process{stderr: &errs}}
	err := fmt.Errorf("end run: %w", errors.Join(errors.New("write a"), errors.New("write b")))
	a.report(err, exitOther)
	a.warn("logs: %v", err)
	want := "heirloom: end run: write a; write b\nheirloom: warning: logs: end run: write a; write b\n"
	if got := errs.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// line runs one command line in this process and returns the exit code and both outputs.
func line(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	dir := t.TempDir()
	code = execute(t.Context(), process{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: environ, args: args,
		workdir: func() (string, error) { return dir, nil },
	})
	return code, out.String(), errs.String()
}

func TestSeesOnlyTheGivenEnvironment(t *testing.T) {
	t.Setenv("HEIRLOOM_STORE", "ftp://not-to-be-seen")
	if code, _, stderr := line(t, nil, "runs"); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, _ := line(t, []string{"HEIRLOOM_STORE=ftp://x"}, "runs"); code != exitUsage {
		t.Errorf("exit code %d, want %d for the given variable", code, exitUsage)
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	secret := "AKIAIOSFODNN7EXAMPLE"
	for _, args := range [][]string{
		{"runs", secret},
		{"runs", "--store", "ftp://user:" + secret + "@host/p"},
		{"runs", "--store", "s3://b/p?password=" + secret + "&nonsense=1"},
		{"config", "explain", "--store", "s3://user:" + secret + "@b/p"},
		{"add", "metadata", "--run", "local://a/b", "password:=" + secret},
		{"add", "metadata", "--run", "local://a/b", "api_key:" + secret},
	} {
		_, stdout, stderr := line(t, nil, args...)
		if strings.Contains(stdout+stderr, secret) {
			t.Errorf("%v shows the secret:\n%s%s", args, stdout, stderr)
		}
	}
}

func TestInterruptedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	dir := t.TempDir()
	code := execute(ctx, process{
		stdout: &stderr, stderr: &stderr, args: []string{"add", "metadata", "--run", "local://a/b", "k=v"},
		workdir: func() (string, error) { return dir, nil },
	})
	if code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, stderr.String())
	}
}

func FuzzPairs(f *testing.F) {
	for _, seed := range []string{"a=1", "a:=[1]", "=x", "a", "a:=", "k=\xff", "a\x00=1", "a==", `t:="x"`} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, pair string, asText bool) {
		object, err := parsePairs([]string{pair}, asText)
		switch {
		case err != nil && !errors.Is(err, store.ErrInvalid):
			t.Errorf("error %v, want kind invalid", err)
		case err == nil && object.Len() != 1:
			t.Errorf("%q gives %d keys", pair, object.Len())
		case err == nil && asText:
			key, text, _ := strings.Cut(pair, "=")
			if object.Text(key) != text {
				t.Errorf("%q as text gives %q", pair, object.Text(key))
			}
		}
	})
}
