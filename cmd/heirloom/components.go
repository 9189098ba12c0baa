package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/component"
)

func newComponents(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "components [NAME]",
		Short: "list the components that run starts, or tell about one",
		Long: `List the components that run can start by name, or tell about one: what it does and
its parameters. Your own come from [components] in heirloom.toml, as NAME = "FILE",
and go before those that are built in; a file ending in .toml or .json is one too.`,
		Example:           "  heirloom components\n  heirloom components dist.ddp\n  heirloom components ./train.toml -o json",
		Args:              atMostOne("NAME"),
		ValidArgsFunction: a.completeComponents,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runComponents(args) },
	}
}

func (a *app) runComponents(args []string) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	set, err := a.components()
	if err != nil {
		return err
	}
	if len(args) == 1 {
		return a.printComponent(set, args[0], format)
	}
	list := render.List{Key: "components", Columns: []render.Column{{Name: "name"}, {Name: "summary"}, {Name: "origin"}}}
	for _, name := range set.Names() {
		c, err := set.Find(name)
		if err != nil {
			a.warn("%v", err)
			continue
		}
		list.Rows = append(list.Rows, []any{c.Name, c.Summary(), orNil(c.Origin)})
	}
	return a.printList(list, format)
}

// componentDoc is a component as components NAME prints it in JSON.
type componentDoc struct {
	Name   string     `json:"name"`
	Help   string     `json:"help"`
	Origin *string    `json:"origin"` // the file; null = built in
	Params []paramDoc `json:"params"`
}

type paramDoc struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Default  any      `json:"default"` // null = none
	Required bool     `json:"required"`
	Rest     bool     `json:"rest"` // it takes the arguments behind the options
	Choices  []string `json:"choices"`
	Help     string   `json:"help"`
}

func (a *app) printComponent(set *component.Set, name string, format render.Format) error {
	c, err := set.Find(name)
	if err != nil {
		return err
	}
	if format == render.Table {
		_, err := io.WriteString(a.stdout, c.Usage("heirloom run"))
		return err
	}
	doc := componentDoc{Name: c.Name, Help: c.Help, Params: []paramDoc{}}
	if c.Origin != "" {
		doc.Origin = &c.Origin
	}
	for _, p := range c.Params {
		doc.Params = append(doc.Params, paramDoc{
			Name: p.Name, Type: string(p.Type), Default: p.Default, Required: p.Required, Rest: p.Rest,
			Choices: append([]string{}, p.Choices...), Help: p.Help,
		})
	}
	return a.printJSON(doc)
}

// components are those that are built in and those of the files.
func (a *app) components() (*component.Set, error) {
	tables, err := a.tables()
	if err != nil {
		return nil, err
	}
	resources, err := namedResources(tables.Resources())
	if err != nil {
		return nil, err
	}
	dir, err := a.workdir()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return &component.Set{
		Options: &component.Options{LogLevel: a.getenv("LOGLEVEL"), Resources: resources},
		Files:   tables.Components(), Defaults: tables.Component(), Dir: dir,
	}, nil
}

// namedResources reads what files say of named resources.
func namedResources(tables map[string]map[string]any) (runner.NamedResources, error) {
	all := runner.NamedResources{}
	for name, fields := range tables {
		body, err := json.Marshal(fields)
		var r runner.Resource
		if err == nil {
			err = json.Unmarshal(body, &r)
		}
		if err != nil {
			return nil, invalidf("read named resource %s: %v", name, err)
		}
		all[name] = r
	}
	return all, nil
}

// completeRunnable completes what run starts: a component or a file, and behind it files.
func (a *app) completeRunnable(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeComponents(c, args, typed)
}

// completeComponents completes the name of a component, or a file.
func (a *app) completeComponents(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	set, err := a.components()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return slices.Clone(set.Names()), cobra.ShellCompDirectiveDefault
}
