package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newArtifact(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "artifact",
		Short: "list, fetch and check what runs made",
		Long: `List, fetch and check what runs made. An artifact is looked for in the store first, so
that a copied store works, then at the path that was recorded, on whatever backend.`,
		Example: `  heirloom artifact ls train-x7f2
  heirloom artifact get train-x7f2#model
  heirloom artifact verify train-x7f2 --read-data`,
	}, newArtifactLs(a), newArtifactGet(a), newArtifactVerify(a))
}

// made is an artifact and the run that made it.
type made struct {
	run tracker.RunID
	tracker.Artifact
}

// id is RUN#NAME.
func (m made) id() string { return string(m.run) + "#" + m.Name }

// madeBy lists what a run made, sorted by name; or with RUN#NAME the one artifact. Both may hold "#" themselves.
// A text that begins with @ is an alias of a run or an artifact.
func (p place) madeBy(ctx context.Context, text string) ([]made, error) {
	text, err := p.expand(ctx, text)
	if err != nil {
		return nil, err
	}
	var problem error
	for i := strings.IndexByte(text, '#'); i > 0; i = nextHash(text, i) {
		list, err := p.allOf(ctx, text[:i])
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		for _, m := range list {
			if m.Name == text[i+1:] {
				return []made{m}, nil
			}
		}
		problem = noArtifact(text[:i], text[i+1:], list)
	}
	if problem != nil {
		return nil, problem
	}
	return p.allOf(ctx, text)
}

// nextHash is the place of the next "#" behind i, -1 if there is none.
func nextHash(text string, i int) int {
	next := strings.IndexByte(text[i+1:], '#')
	if next < 0 {
		return -1
	}
	return i + 1 + next
}

func (p place) allOf(ctx context.Context, run string) ([]made, error) {
	id, err := p.visibleRun(ctx, run)
	if err != nil {
		return nil, err
	}
	artifacts, err := p.tracker.Artifacts(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]made, len(artifacts))
	for i, artifact := range artifacts {
		list[i] = made{id, artifact}
	}
	return list, nil
}

func noArtifact(run, name string, list []made) error {
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	advice := "the run has none"
	if len(names) > 0 {
		advice = "it has " + some(names)
	}
	return &advised{err: &kindError{text: fmt.Sprintf("run %s has no artifact %q", run, name), kind: store.ErrNotExist}, advice: advice}
}

// find looks where the bytes of an artifact lie: in the store by its key, else at its path. store.ErrNotExist means that
// they are at neither; store.ErrInvalid that its writer left no address.
func (s *spots) find(ctx context.Context, m made) (spot, thing, error) {
	if key, err := store.ParseKey(m.Key()); err == nil {
		at := spot{store: s.store, key: key, text: string(key)}
		what, err := at.look(ctx)
		if err == nil || !errors.Is(err, store.ErrNotExist) {
			return at, what, err
		}
	}
	if !location().MatchString(m.Path) && !filepath.IsAbs(m.Path) {
		return spot{}, thing{}, invalidf("%q is no address of %s", m.Path, m.id())
	}
	at, err := s.at(ctx, m.Path)
	if err != nil {
		return at, thing{}, err
	}
	what, err := at.look(ctx)
	if errors.Is(err, store.ErrNotExist) {
		err = &advised{err: &kindError{text: fmt.Sprintf("%s is not where it was recorded, %s", m.id(), at.url()), kind: store.ErrNotExist},
			advice: "it was moved or deleted"}
	}
	return at, what, err
}
