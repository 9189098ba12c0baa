package runner

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// gitAsk is a question to git, under way. A nil one has no answer.
type gitAsk struct {
	done     chan struct{}
	cancel   context.CancelFunc
	facts    *pyjson.Object // set before done is closed
	recorded bool           // the facts are in the tracker
}

// askGit asks for commit, branch, remote and dirtiness of the work tree that
// holds dir. Where there is no work tree or no git the answer is empty.
func askGit(ctx context.Context, dir string, environ []string) *gitAsk {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &gitAsk{done: make(chan struct{}), cancel: cancel, facts: &pyjson.Object{}}
	go func() {
		defer close(a.done)
		if lookup(environ, "GIT_DIR") != "" || inWorkTree(dir) {
			a.facts = gitFacts(ctx, dir, environ)
		}
	}()
	return a
}

// answer waits no longer than limit for what is not yet recorded.
func (a *gitAsk) answer(limit time.Duration) *pyjson.Object {
	if a == nil {
		return nil
	}
	defer a.cancel()
	select {
	case <-a.done:
	case <-time.After(limit):
		a.cancel()
		<-a.done // what was answered before then counts
	}
	if a.recorded {
		return nil
	}
	return a.facts
}

func inWorkTree(dir string) bool {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, absent := os.Lstat(filepath.Join(dir, ".git")); absent == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
	return false
}

// gitFacts asks three things at once, so that a slow status does not cost the
// commit.
func gitFacts(ctx context.Context, dir string, environ []string) *pyjson.Object {
	path, err := (&process.Spec{Args: []string{"git"}, Env: environ}).Find()
	if err != nil {
		return &pyjson.Object{}
	}
	var head, status, remotes string
	var statusErr error
	var group errgroup.Group
	ask := func(args ...string) (string, error) { return git(ctx, path, dir, environ, args...) }
	group.Go(func() error { head, _ = ask("rev-parse", "--verify", "HEAD"); return nil })
	group.Go(func() error {
		status, statusErr = ask("status", "--porcelain=v2", "--branch", "--untracked-files=no")
		return nil
	})
	group.Go(func() error { remotes, _ = ask("config", "--get-regexp", `^remote\..*\.url$`); return nil })
	_ = group.Wait()
	return factsOf(strings.TrimSpace(head), status, statusErr == nil, remotes)
}

// git runs a command that changes nothing, waits for no lock and starts no
// program that the repository names.
func git(ctx context.Context, path, dir string, environ []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), environ...), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return string(out), err
}

// factsOf reads git's porcelain format, version 2, and its list of remotes.
func factsOf(head, status string, known bool, remotes string) *pyjson.Object {
	facts := &pyjson.Object{}
	var branch, upstream string
	dirty := false
	for line := range strings.Lines(status) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# branch.head "):
			branch = strings.TrimPrefix(line, "# branch.head ")
		case strings.HasPrefix(line, "# branch.upstream "):
			upstream = strings.TrimPrefix(line, "# branch.upstream ")
		case line != "" && !strings.HasPrefix(line, "#"):
			dirty = true
		}
	}
	set := func(key, value string) {
		if value = strings.ToValidUTF8(value, "\ufffd"); value != "" {
			facts.Set(key, value)
		}
	}
	set(tracker.KeyGitCommit, head)
	if branch != "(detached)" {
		set(tracker.KeyGitBranch, branch)
	}
	set(tracker.KeyGitRemote, store.RedactURL(remoteOf(upstream, remotes)))
	if known {
		facts.Set(tracker.KeyGitDirty, dirty)
	}
	return facts
}

// remoteOf chooses the remote of the upstream branch, else origin, else the
// only one.
func remoteOf(upstream, remotes string) string {
	urls := map[string]string{}
	for line := range strings.Lines(remotes) {
		key, url, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if _, twice := urls[name]; !twice {
			urls[name] = url
		}
	}
	chosen := "origin"
	for _, name := range slices.Sorted(maps.Keys(urls)) { // the longest that fits comes last
		if strings.HasPrefix(upstream, name+"/") || len(urls) == 1 {
			chosen = name
		}
	}
	return urls[chosen]
}
