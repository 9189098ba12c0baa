package alias

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Change is what is wanted of an alias.
type Change struct {
	Run      tracker.RunID // what it shall mean; "" = nothing any more
	Artifact string        // of the run; "" = the run itself
	User     string
	Reason   string // secrets are redacted
	// IfCurrent, unless nil, is what it must mean now, "" for nothing; else the error is store.ErrConflict.
	IfCurrent *string
}

// node is what the alias shall mean.
func (c Change) node() string {
	if c.Artifact == "" {
		return string(c.Run)
	}
	return string(c.Run) + "#" + c.Artifact
}

// Set gives a name another meaning, and returns it. What a name means already is not written again. Of several at once
// each gets its own number, the last counts; with IfCurrent only one succeeds. To remove what means nothing is
// store.ErrNotExist.
func (s *Set) Set(ctx context.Context, name string, c Change) (Alias, error) {
	for {
		now, err := s.last(ctx, name)
		if err != nil {
			return Alias{}, err
		}
		if err := c.check(now); err != nil {
			return Alias{}, err
		}
		if now.Node == c.node() && now.Number > 0 {
			return now, nil
		}
		next := Alias{Name: name, Node: c.node(), Artifact: c.Artifact, Number: now.Number + 1, Time: s.now().UTC(), User: c.User, Reason: store.Redact(c.Reason)}
		body, err := json.Marshal(record{Node: next.Node, Artifact: next.Artifact, Time: next.Time, User: next.User, Reason: next.Reason})
		if err != nil {
			return Alias{}, err
		}
		err = s.s.Create(ctx, s.key(name, next.Number), append(body, '\n'))
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, store.ErrExist) {
			return Alias{}, fmt.Errorf("set alias %s: %w", name, err)
		}
	}
}

// check refuses a change that does not fit what the name means now.
func (c Change) check(now Alias) error {
	if c.IfCurrent != nil && *c.IfCurrent != now.Node {
		return &store.Error{Op: "set alias", Key: now.Name, Kind: store.ErrConflict,
			Err: fmt.Errorf("it means %s, not %s", meaning(now.Node), meaning(*c.IfCurrent))}
	}
	if c.Run == "" && now.Removed() {
		return &store.Error{Op: "remove alias", Key: now.Name, Kind: store.ErrNotExist, Err: errors.New("there is no such alias")}
	}
	return nil
}

func meaning(node string) string {
	if node == "" {
		return "nothing"
	}
	return node
}
