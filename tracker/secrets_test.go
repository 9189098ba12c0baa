package tracker_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/planted"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestNoSecretReachesTheDisk records all kinds of secrets in every place from
// which a tracker takes them, and looks for them in names and bytes.
func TestNoSecretReachesTheDisk(t *testing.T) {
	dir := t.TempDir()
	tr := tracker.NewFileTracker(openStore(t, dir, nil), nil)
	secrets := planted.Many(rand.New(rand.NewPCG(3, 4)), 0, storetest.Rounds(10_000))
	var group errgroup.Group
	group.SetLimit(16)
	for i, some := range slices.Collect(slices.Chunk(secrets, 10)) {
		group.Go(func() error { return leak(t, tr, tracker.RunID(fmt.Sprintf("local://torchx/r%d", i)), some) })
	}
	check(t, group.Wait())
	found, err := planted.Find(dir, secrets)
	check(t, err)
	for _, leak := range found {
		t.Error(leak)
	}
}

// leak gives secrets to each method that promises to hide them.
func leak(t *testing.T, tr *tracker.FileTracker, run tracker.RunID, secrets []planted.Secret) error {
	start, m, command := tracker.AttemptStart{}, object(), []any{}
	for _, s := range secrets {
		start.Command, start.Environ = append(start.Command, s.Args...), append(start.Environ, s.Env)
		for _, arg := range s.Args {
			command = append(command, arg)
		}
		if s.URL == "" {
			continue
		}
		m.Set(tracker.KeyGitRemote, s.URL)
		if err := leakURL(t, tr, run, s.URL); err != nil {
			return err
		}
	}
	m.Set(tracker.KeyCommand, command)
	_, err := tr.StartAttempt(t.Context(), run, start)
	return errors.Join(err, tr.AddMetadata(t.Context(), run, m))
}

func leakURL(t *testing.T, tr *tracker.FileTracker, run tracker.RunID, url string) error {
	if err := tr.AddArtifact(t.Context(), run, tracker.Artifact{Name: "m", Path: url}); err != nil {
		return err
	}
	input, err := tracker.NewInput(tracker.Source{URI: url}, "/")
	if err != nil {
		return err
	}
	sources := []tracker.Source{input, {ID: "in", URI: url, Artifact: "a"}}
	if len(url) <= 155 {
		sources = append(sources, tracker.Source{ID: tracker.RunID(url)}, tracker.Source{ID: tracker.RunID(url), Role: tracker.RoleInput})
	}
	for _, source := range sources {
		if err := tr.AddSource(t.Context(), run, source); err != nil {
			return err
		}
	}
	return nil
}

// TestFsckFindsSecrets plants each kind as tools did that knew of no redaction:
// in a value, in a list, in a path, and in the name of a source.
func TestFsckFindsSecrets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, s := range planted.Many(random, 0, planted.Kinds()) {
		p := newPatient(t, "mem://")
		list := make([]any, len(s.Args))
		for i, arg := range s.Args {
			list[i] = arg
		}
		records := map[string]string{
			key(runA, "metadata", "5"): dump(t, object("metadata", object("argv", list))),
			key(runA, "metadata", "6"): dump(t, object("metadata", object("text", strings.Join(s.Args, " ")))),
		}
		if s.URL != "" {
			records[key(runA, "artifacts", "5")] = dump(t, object("name", "x", "path", s.URL, "metadata", nil))
			records[key(runA, "heirloom", "aside", "20260101T000000Z", "metadata", "x")] = s.URL
		}
		if s.URL != "" && len(s.URL) <= 155 && !strings.Contains(s.URL, "\n") {
			records[key(runA, "sources", b32(s.URL))] = "\n"
		}
		for name, body := range records {
			p.put(name, body)
		}
		var found []string
		for _, f := range p.fsck(tracker.FsckOptions{Secrets: true}).Findings {
			if f.Rule == tracker.RuleSecret {
				found = append(found, string(f.Key))
			}
			for _, hidden := range s.Hidden {
				if strings.Contains(f.Problem, hidden) {
					t.Errorf("%s: the finding shows the secret: %s", s.Kind, f.Problem)
				}
			}
		}
		for name := range records {
			if !slices.Contains(found, name) {
				t.Errorf("%s: nothing was found in %s with %s", s.Kind, name, records[name])
			}
		}
	}
}

// TestFsckTakesRedactionForIt is silent about what was recorded with care.
func TestFsckTakesRedactionForIt(t *testing.T) {
	p := newPatient(t, "mem://")
	for _, s := range planted.Many(rand.New(rand.NewPCG(7, 8)), 0, planted.Kinds()) {
		check(t, leak(t, p.tracker, runC, []planted.Secret{s}))
		check(t, p.tracker.AddMetadata(t.Context(), runC, object("text", store.Redact(strings.Join(s.Args, " ")))))
	}
	for _, f := range p.fsck(tracker.FsckOptions{Secrets: true}).Findings {
		if f.Rule == tracker.RuleSecret {
			t.Errorf("%s: %s", f.Key, f.Problem)
		}
	}
}
