package main

import (
	"context"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

// completeness asks an index how far its answers can be trusted.
func (a *app) completeness(ctx context.Context, x *index.Index) (*render.Completeness, error) {
	c, err := x.Completeness(ctx)
	if err != nil {
		return nil, err
	}
	return &render.Completeness{AsOf: c.AsOf, Runs: c.Runs, Unreadable: c.Unreadable, NoInputs: c.NoInputs}, nil
}

// noteCompleteness is the last line of an answer. One whose JSON document says it, see render.Completeness, does not
// repeat it; nil says nothing.
func (a *app) noteCompleteness(c *render.Completeness) {
	if c == nil || a.flags.json || a.flags.format == string(render.JSON) {
		return
	}
	a.note("%s", c.Line())
}
