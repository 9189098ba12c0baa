package main

import (
	"encoding/json"
	"fmt"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// plannedRun is a plan as run --dry-run --json prints it; the names are TorchX's. Fields are only ever added.
type plannedRun struct {
	Run       tracker.RunID `json:"run"` // of a new run a further call makes another
	Scheduler string        `json:"scheduler"`
	Cfg       runner.Config `json:"cfg"` // the options, as resolved
	App       runner.App    `json:"app"`
	Request   any           `json:"request"` // what the scheduler would be sent: its text, or its own document
}

// printPlan prints what would be submitted, secrets left out.
func (a *app) printPlan(plan *runner.Plan) error {
	shown := plan.Redacted()
	request, err := requestText(plan.Request)
	if err != nil {
		return err
	}
	doc := plannedRun{Run: plan.RunID, Scheduler: plan.Scheduler, Cfg: shown.Options, App: shown.App, Request: request}
	if doc.Cfg == nil {
		doc.Cfg = runner.Config{}
	}
	if a.wantsJSON() {
		return a.printJSON(doc)
	}
	app, err := indented(doc.App)
	if err != nil {
		return err
	}
	text, isText := request.(string)
	if !isText {
		if text, err = indented(request); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.stdout, "\n=== APPLICATION ===\n%s\n\n=== SCHEDULER REQUEST ===\n%s\n", app, render.SanitizeLines(text))
	return err
}

// requestText is a scheduler's request for people: what it says of itself, else as JSON.
func requestText(request any) (any, error) {
	if s, ok := request.(fmt.Stringer); ok {
		return store.Redact(s.String()), nil
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("print the request: %w", err)
	}
	var doc any
	err = json.Unmarshal([]byte(store.Redact(string(body))), &doc)
	return doc, err
}
