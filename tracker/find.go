package tracker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

// AmbiguousError is a text that fits several runs. Its kind is store.ErrConflict.
type AmbiguousError struct {
	Text       string
	Candidates []RunID // sorted
}

// Error names a few of the candidates, each as short as still tells it from the others.
func (e *AmbiguousError) Error() string {
	const most = 5
	names := make([]string, 0, most+1)
	for _, id := range e.Candidates[:min(most, len(e.Candidates))] {
		names = append(names, e.Short(id))
	}
	if more := len(e.Candidates) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%q could be any of %d: %s", e.Text, len(e.Candidates), strings.Join(names, ", "))
}

// leastShown is how much of the random end of an id stands in its short form.
const leastShown = 4

// Short is the shortest beginning of a candidate's last part that names it alone: what would have been enough to type.
// Where no such beginning does, it is the whole id.
func (e *AmbiguousError) Short(id RunID) string {
	name := id.Name()
	at := strings.Index(name, e.Text)
	if at < 0 || e.Text == "" {
		return string(id) // what was typed lies elsewhere in the id, so that others may have the same last part
	}
	least := max(at+len(e.Text), strings.LastIndexByte(name, '-')+1+leastShown)
	for end := least; end < len(name); end++ {
		if utf8.RuneStart(name[end]) && e.alone(id, name[:end]) {
			return name[:end]
		}
	}
	if e.alone(id, name) {
		return name
	}
	return string(id)
}

// alone reports whether no other candidate contains a text. All ids that do are candidates, as they contain Text.
func (e *AmbiguousError) alone(id RunID, text string) bool {
	for _, other := range e.Candidates {
		if other != id && strings.Contains(string(other), text) {
			return false
		}
	}
	return true
}

// Unwrap gives the kind.
func (e *AmbiguousError) Unwrap() error { return store.ErrConflict }

// Find returns the run whose id is text, else the one whose Name is text, else
// the only one whose Name begins with it, else the only one whose id contains
// it. No such run is store.ErrNotExist, several are an *AmbiguousError.
func (t *FileTracker) Find(ctx context.Context, text string) (RunID, error) {
	id, err := ParseRunID(text)
	if err != nil {
		return "", fmt.Errorf("find run: %w", err)
	}
	if err := t.readable(ctx); err != nil {
		return "", fmt.Errorf("find run: %w", err)
	}
	if strings.Contains(text, "://") { // a whole id spares the listing
		if ok, err := t.exists(ctx, id); ok || err != nil {
			return id, err
		}
	}
	ids, err := t.allIDs(ctx)
	if err != nil {
		return "", fmt.Errorf("find run: %w", err)
	}
	return Match(ids, text)
}

// Match is Find among given ids.
func Match(ids []RunID, text string) (RunID, error) {
	fits := []func(RunID) bool{
		func(id RunID) bool { return string(id) == text },
		func(id RunID) bool { return id.Name() == text },
		func(id RunID) bool { return strings.HasPrefix(id.Name(), text) },
		func(id RunID) bool { return strings.Contains(string(id), text) },
	}
	for _, fit := range fits {
		found := slices.DeleteFunc(slices.Clone(ids), func(id RunID) bool { return !fit(id) })
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			slices.Sort(found)
			return "", &AmbiguousError{Text: text, Candidates: found}
		}
	}
	return "", &store.Error{Op: "find run", Key: printable(text), Kind: store.ErrNotExist}
}
