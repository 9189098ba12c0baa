package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		servers.Missing(t, err, "apt-get install git", "git")
	}
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	file := filepath.Join(dir, "a")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(dir string) string { return jsonOf(askGit(t.Context(), dir, os.Environ()).answer(time.Minute)) }

	if got := ask(dir); got != "{}" {
		t.Errorf("no repository: %s", got)
	}
	do("init", "-q", "-b", "main")
	if got := ask(dir); got != `{"heirloom.git.branch": "main", "heirloom.git.dirty": false}` {
		t.Errorf("no commit: %s", got)
	}
	write("1")
	do("add", "a")
	do("commit", "-q", "-m", "one")
	do("remote", "add", "origin", "https://me:secret@example.com/a.git")
	head := askGit(t.Context(), dir, os.Environ()).answer(time.Minute).Text(tracker.KeyGitCommit)
	if len(head) != 40 {
		t.Errorf("commit %q", head)
	}
	want := `{"heirloom.git.commit": "` + head + `", "heirloom.git.branch": "main", "heirloom.git.remote": "https://` + store.RedactedMark + `@example.com/a.git", "heirloom.git.dirty": `
	if err := os.WriteFile(filepath.Join(dir, "untracked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(dir); got != want+"false}" {
		t.Errorf("clean:\ngot  %s\nwant %s", got, want)
	}
	write("2")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := ask(filepath.Join(dir, "sub")); got != want+"true}" {
		t.Errorf("dirty, below:\ngot  %s", got)
	}
	if got := jsonOf(askGit(t.Context(), dir, []string{"PATH=/nowhere"}).answer(time.Minute)); got != "{}" {
		t.Errorf("no git: %s", got)
	}
}

// A git that never answers costs the limit, and no more.
func TestGitThatHangs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ask := askGit(t.Context(), dir, []string{"PATH=" + bin + ":/usr/bin:/bin"})
	begin := time.Now()
	if got := jsonOf(ask.answer(50 * time.Millisecond)); got != "{}" {
		t.Errorf("got %s", got)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("took %s", took)
	}
}

func TestRemoteOf(t *testing.T) {
	remotes := "remote.fork.url https://f\nremote.origin.url https://o\nremote.origin.url https://second\n"
	for upstream, want := range map[string]string{"": "https://o", "fork/main": "https://f", "gone/main": "https://o"} {
		if got := remoteOf(upstream, remotes); got != want {
			t.Errorf("%q: got %q, want %q", upstream, got, want)
		}
	}
	if got := remoteOf("", "remote.up.url https://u\n"); got != "https://u" {
		t.Errorf("only one: %q", got)
	}
}
