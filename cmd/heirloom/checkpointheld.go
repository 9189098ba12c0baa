package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// holds knows what the records say about the use of checkpoints.
type holds struct {
	place    place
	users    map[tracker.RunID][]tracker.Edge // by the run that was used
	uses     map[string]tracker.RunID         // who used an input, by its canonical URI
	states   map[tracker.RunID]tracker.State
	made     map[tracker.RunID]map[string]store.Key // where the artifacts of a run lie, by name
	children map[tracker.RunID][]tracker.RunID
}

func (p place) holds(ctx context.Context) (*holds, error) {
	set, err := p.tracker.Edges(ctx)
	if err != nil {
		return nil, err
	}
	h := &holds{
		place: p, users: map[tracker.RunID][]tracker.Edge{}, uses: map[string]tracker.RunID{},
		states: map[tracker.RunID]tracker.State{}, made: map[tracker.RunID]map[string]store.Key{}, children: map[tracker.RunID][]tracker.RunID{},
	}
	for _, e := range set.Edges {
		h.users[e.From] = append(h.users[e.From], e)
		h.children[e.From] = append(h.children[e.From], e.To)
		for _, uri := range []string{string(e.From), e.Source.URI} {
			if canonical, err := store.CanonicalURI(uri, ""); err == nil && bytesURL().MatchString(uri) {
				h.uses[canonical] = e.To
			}
		}
	}
	return h, nil
}

// on says what needs a checkpoint of a run, "" if nothing does.
func (h *holds) on(ctx context.Context, s saved) (string, error) {
	if run, ok := h.usedByURI(s); ok {
		return "used by " + run.Name(), nil
	}
	for _, e := range h.users[s.run] {
		if e.Source.Artifact == "" {
			continue
		}
		names, err := h.names(ctx, s, e.Source.Artifact)
		if err != nil {
			return "", err
		}
		if names {
			return "used by " + e.To.Name(), nil
		}
	}
	live, err := h.liveBelow(ctx, s.run)
	if err != nil || live != "" {
		return heldBy(live), err
	}
	if !s.Complete() {
		if state, err := h.state(ctx, s.run); err != nil || !state.Terminal() {
			return "the run may still write it", err
		}
	}
	return "", nil
}

func heldBy(live tracker.RunID) string {
	if live == "" {
		return ""
	}
	return fmt.Sprintf("%s is alive and descends from the run", live.Name())
}

// usedByURI finds who used the checkpoint, a file of it, or a directory that holds it, by its address.
func (h *holds) usedByURI(s saved) (tracker.RunID, bool) {
	for dir := s.Path; ; dir = dir.Dir() {
		if run, ok := h.usedAt(s.store.KeyURL(dir)); ok {
			return run, true
		}
		if dir == "" || dir == s.store.Layout().Runs() {
			break
		}
	}
	for _, o := range s.Files {
		if run, ok := h.usedAt(s.store.KeyURL(o.Key)); ok {
			return run, true
		}
	}
	return "", false
}

func (h *holds) usedAt(url string) (tracker.RunID, bool) {
	uri, err := store.CanonicalURI(url, "")
	run, ok := h.uses[uri]
	return run, ok && err == nil
}

// names says whether an artifact of the run is the checkpoint, a part of it, or what it is a part of: by its name,
// which is a path in the output directory, or by where it was recorded to lie.
func (h *holds) names(ctx context.Context, s saved, artifact string) (bool, error) {
	if related(s.path, artifact) {
		return true, nil
	}
	made, err := h.artifacts(ctx, s.run)
	if err != nil {
		return false, err
	}
	at, ok := made[artifact]
	if ok && related(string(s.Path), string(at)) {
		return true, nil
	}
	top := strings.TrimSuffix(string(s.Path), s.path) // of the run, with a slash
	if s.path == "." {
		top = string(s.Path) + "/"
	}
	for _, o := range s.Files {
		if o.Key == at || string(o.Key) == top+artifact {
			return true, nil
		}
	}
	return false, nil
}

// related says whether two paths are equal or one holds the other.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// artifacts reads where those of a run lie in the store.
func (h *holds) artifacts(ctx context.Context, run tracker.RunID) (map[string]store.Key, error) {
	if made, ok := h.made[run]; ok {
		return made, nil
	}
	list, err := h.place.tracker.Artifacts(ctx, run)
	if err != nil {
		return nil, err
	}
	made := map[string]store.Key{}
	root, _ := store.CanonicalURI(h.place.store.KeyURL(""), "")
	for _, artifact := range list {
		made[artifact.Name] = store.Key(artifact.Key())
		if uri, err := store.CanonicalURI(artifact.Path, ""); artifact.Key() == "" && err == nil {
			made[artifact.Name] = store.Key(strings.TrimPrefix(uri, strings.TrimSuffix(root, "/")+"/"))
		}
	}
	h.made[run] = made
	return made, nil
}

// liveBelow finds a run that is alive and descends from run by a link that names no artifact.
func (h *holds) liveBelow(ctx context.Context, run tracker.RunID) (tracker.RunID, error) {
	var queue []tracker.RunID
	for _, e := range h.users[run] {
		if e.Source.Artifact == "" {
			queue = append(queue, e.To)
		}
	}
	seen := map[tracker.RunID]bool{run: true}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		state, err := h.state(ctx, next)
		if err != nil {
			return "", err
		}
		if isAlive(state) {
			return next, nil
		}
		queue = append(queue, h.children[next]...)
	}
	return "", nil
}

// isAlive counts a run that gave no sign of life among those that may: it may be cut off from the store. One whose
// writer records no states, as TorchX, is taken for ended.
func isAlive(state tracker.State) bool {
	return !state.Terminal() && state != tracker.Unknown
}

func (h *holds) state(ctx context.Context, run tracker.RunID) (tracker.State, error) {
	if state, ok := h.states[run]; ok {
		return state, nil
	}
	state := tracker.Unknown
	found, err := h.place.tracker.Run(ctx, run)
	if err == nil {
		state = found.State
	} else if !errors.Is(err, store.ErrNotExist) {
		return "", err
	}
	h.states[run] = state
	return state, nil
}
