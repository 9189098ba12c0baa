package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/component"
)

// asked is what run was asked to start: a command, or a component.
type asked struct {
	args      []string
	component *component.Component // nil = args are a command
	app       runner.App           // zero for a simple command
}

// whatToRun tells a component from a command. Behind "--" stands a command, always.
func (a *app) whatToRun(c *cobra.Command, args []string, f runFlags) (asked, error) {
	if f.script != "" {
		app, err := a.scriptApp(c, args, f)
		return asked{args: append([]string{f.script}, args...), app: app}, err
	}
	named := f.stdin || f.componentFrom != "" // it can be a component alone
	if dashed := c.Flags().ArgsLenAtDash() == 0; dashed && !named {
		return asked{args: args, app: commandApp(args, f)}, nil
	}
	set, err := a.components()
	if err != nil {
		return asked{}, err
	}
	if !named && (!set.Has(args[0]) || isProgram(args[0])) {
		return asked{args: args, app: commandApp(args, f)}, a.mistyped(set, args[0])
	}
	if f.replicas > 1 || f.maxRetries > 0 {
		return asked{}, usagef(c.CommandPath(), "--replicas and --max-retries are for commands; a component has its own, as --num_replicas")
	}
	found, err := set.Find(args[0])
	if err != nil && f.componentFrom != "" {
		err = fmt.Errorf("[cli:run] of %s: %w", f.componentFrom, err)
	}
	if err != nil {
		return asked{}, err
	}
	app, err := a.componentApp(found, args[0], args[1:], f.values)
	return asked{args: args, component: found, app: app}, err
}

// componentApp is the App that a component makes of words and of values by name, of which the words win; name is what it
// was called.
func (a *app) componentApp(found *component.Component, name string, words []string, given map[string]any) (runner.App, error) {
	advice := "see heirloom components " + name
	values, err := found.ParseArgs(words)
	if errors.Is(err, component.ErrHelp) {
		_, err := io.WriteString(a.stdout, found.Usage("heirloom run"))
		return runner.App{}, errors.Join(err, errHelped)
	}
	if err != nil {
		return runner.App{}, &advised{err: err, advice: advice}
	}
	for name, v := range given {
		if _, won := values[name]; !won {
			values[name] = v
		}
	}
	app, err := found.App(values)
	if err == nil {
		err = app.Validate()
	}
	if err != nil {
		return runner.App{}, &advised{err: fmt.Errorf("component %s: %w", name, err), advice: advice}
	}
	return app, nil
}

// mistyped is an error for a word that is neither a component nor a program here, and looks like a component's name.
func (a *app) mistyped(set *component.Set, word string) error {
	if file, _, found := strings.Cut(word, ".py:"); found && !a.hasProgram(word) {
		return &advised{
			err:    &kindError{text: fmt.Sprintf("%s is a component in Python, which is not read", word), kind: runner.ErrNotFound},
			advice: fmt.Sprintf("write it as a file, such as %s.toml (docs/runner.md, Components), or give its command behind --", file),
		}
	}
	near := set.Near(word)
	if strings.ContainsAny(word, `/\`) || len(near) == 0 || a.hasProgram(word) {
		return nil
	}
	return &advised{
		err:    &kindError{text: fmt.Sprintf("there is no component %s (near: %s), and no such command", word, strings.Join(near, ", ")), kind: runner.ErrNotFound},
		advice: "heirloom components lists them; behind -- stands a command, wherever it is",
	}
}

// errHelped says that help was printed, which is all there is to do.
var errHelped = errors.New("help was printed")

// isProgram says whether a word that looks like a component's file is a program after all: it may be executed.
func isProgram(name string) bool {
	info, err := os.Stat(name)
	return component.IsFile(name) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// commandApp is the App of a plain command. Its words are taken as they are: macros are for components.
func commandApp(args []string, f runFlags) runner.App {
	role := runner.Role{Name: "main", Entrypoint: args[0], NumReplicas: f.replicas, MaxRetries: f.maxRetries}
	for _, arg := range args[1:] {
		role.Args = append(role.Args, runner.EscapeMacros(arg))
	}
	return runner.App{Name: cmp.Or(f.name, runner.CommandName(args)), Roles: []runner.Role{role}}
}
