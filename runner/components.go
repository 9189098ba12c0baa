package runner

import (
	"context"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
)

// ComponentRequest asks for a run of a component.
type ComponentRequest struct {
	Component string
	Args      []string       // as on the command line
	Values    map[string]any // by the names of parameters; Args win
	Request                  // App is set by the component
}

// PlanComponent is Plan for the app that a component makes.
func (r *Runner) PlanComponent(ctx context.Context, request ComponentRequest) (plan *Plan, err error) {
	event := r.event("plan component")
	event.scheduler, event.component = request.Scheduler, request.Component
	defer func() { event.of(plan); event.end(ctx, err) }()
	if err := r.component(ctx, &request); err != nil {
		return nil, err
	}
	return r.plan(ctx, request.Request)
}

// RunComponent is Run for the app that a component makes.
func (r *Runner) RunComponent(ctx context.Context, request ComponentRequest) (h Handle, err error) {
	event := r.event("run component")
	event.scheduler, event.component = request.Scheduler, request.Component
	var plan *Plan
	defer func() { event.of(plan); event.end(ctx, err) }()
	if err := r.component(ctx, &request); err != nil {
		return Handle{}, err
	}
	if plan, err = r.plan(ctx, request.Request); err != nil {
		return Handle{}, err
	}
	return r.submit(ctx, plan)
}

func (r *Runner) component(ctx context.Context, request *ComponentRequest) (err error) {
	if r.opts.Components == nil {
		return fmt.Errorf("component %s: there are no components here: %w", request.Component, store.ErrUnsupported)
	}
	request.App, err = r.opts.Components.Component(ctx, request.Component, request.Args, request.Values)
	return err
}
