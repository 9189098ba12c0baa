package component

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Component makes an App of the values of its parameters. It is not changed once
// made, and may be used from several goroutines.
type Component struct {
	Name   string  // utils.echo
	Help   string  // a summary on the first line, then as much as there is to say
	Params []Param // in the order of the help; at most one is Rest
	Origin string  // the file that it was read from; "" = built in

	make func(v Values) (runner.App, error)
}

// Values are the values of parameters by name, of the Go types that Type names.
// A parameter that has no value is absent.
type Values map[string]any

// Summary is the first line of the help.
func (c *Component) Summary() string {
	line, _, _ := strings.Cut(c.Help, "\n")
	return line
}

// Param gives the parameter of that name, nil if there is none. Hyphens and
// underscores are the same, as in num-replicas.
func (c *Component) Param(name string) *Param {
	name = strings.ReplaceAll(name, "-", "_")
	for i := range c.Params {
		if strings.ReplaceAll(c.Params[i].Name, "-", "_") == name {
			return &c.Params[i]
		}
	}
	return nil
}

// App makes the App. Values are first completed by the defaults. An unknown
// parameter, a value of another type, or a required one that is absent is an error
// of kind store.ErrInvalid, as is what the component itself refuses.
func (c *Component) App(v Values) (runner.App, error) {
	all := Values{}
	for name, value := range v {
		p := c.Param(name)
		if p == nil {
			return runner.App{}, c.unknown(name)
		}
		checked, err := p.Type.check(value)
		if err == nil {
			err = p.choose(checked)
		}
		if err != nil {
			return runner.App{}, c.refuse(fmt.Errorf("parameter %s: %w", p.Name, err))
		}
		all[p.Name] = checked
	}
	var missing []string
	for _, p := range c.Params {
		if _, given := all[p.Name]; given {
			continue
		}
		if p.Required {
			missing = append(missing, p.flag())
		}
		if p.Default != nil {
			all[p.Name] = p.Default
		}
	}
	if len(missing) > 0 {
		return runner.App{}, c.refuse(fmt.Errorf("missing %s", strings.Join(missing, " and ")))
	}
	app, err := c.make(all)
	if err != nil {
		return runner.App{}, c.refuse(err)
	}
	return app, nil
}

// refuse says which component an error is of, as one of kind store.ErrInvalid.
func (c *Component) refuse(err error) error {
	return &invalidError{fmt.Errorf("component %s: %w", c.Name, err)}
}

func (c *Component) unknown(name string) error {
	var known []string
	for _, p := range c.Params {
		known = append(known, p.Name)
	}
	slices.Sort(known)
	return c.refuse(fmt.Errorf("no parameter %q, known: %s", name, strings.Join(known, ", ")))
}

// invalidError is a component, or a value for one, that cannot be.
type invalidError struct{ err error }

func (e *invalidError) Error() string { return e.err.Error() }

func (e *invalidError) Unwrap() []error {
	if errors.Is(e.err, store.ErrInvalid) {
		return []error{e.err}
	}
	return []error{e.err, store.ErrInvalid}
}

// text, number and the like give a value, zero if it is absent.
func (v Values) text(name string) string             { s, _ := v[name].(string); return s }
func (v Values) number(name string) int              { n, _ := v[name].(int); return n }
func (v Values) list(name string) []string           { l, _ := v[name].([]string); return l }
func (v Values) pairs(name string) map[string]string { m, _ := v[name].(map[string]string); return m }
func (v Values) is(name string) bool                 { b, _ := v[name].(bool); return b }
func (v Values) has(name string) bool                { _, ok := v[name]; return ok }
