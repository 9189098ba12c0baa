package main

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
)

// What the library says in TorchX's words advises nobody at a shell to call Python.
func TestOurWords(t *testing.T) {
	r, err := runner.New("", []runner.Backend{{Name: "local"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, unknown := r.Status(t.Context(), runner.Handle{Scheduler: "slrm", Session: "torchx", App: "a"})
	role := runner.Role{Name: "r", Entrypoint: "e", NumReplicas: 1}
	app := func(change func(*runner.Role)) *runner.App {
		changed := role
		change(&changed)
		return &runner.App{Name: "a", Roles: []runner.Role{changed}}
	}
	for what, err := range map[string]error{
		"scheduler":  unknown,
		"roles":      (&runner.App{Name: "a"}).Validate(),
		"entrypoint": app(func(r *runner.Role) { r.Entrypoint = "" }).Validate(),
		"replicas":   app(func(r *runner.Role) { r.NumReplicas = 0 }).Validate(),
	} {
		text := inOurWords(err.Error())
		if text == err.Error() || strings.Contains(text, "Did you forget") || strings.Contains(text, "session.") || strings.Contains(text, "role.") {
			t.Errorf("%s: %s", what, text)
		}
	}
}
