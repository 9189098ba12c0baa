package component

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Set is the components that there are: a user's own and those that are built in.
// Files are read when they are asked for.
type Set struct {
	Options *Options
	// Files are a user's own components by name: the file of each.
	Files map[string]string
	// Defaults are values for parameters by the name of the component, as text or of
	// the parameter's type; they go before the component's own.
	Defaults map[string]map[string]any
	// Dir is where a file named on the command line is looked for; "" = the working directory.
	Dir string
}

// Find gives the component that a name means: a user's own of that name, else one that
// is built in, else the file at that path, if it looks like one. What there is not has
// kind store.ErrNotExist and names what is near; a file that is no component, or a
// default that does not fit, has kind store.ErrInvalid.
func (s *Set) Find(name string) (*Component, error) {
	c, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return c, c.takeDefaults(s.Defaults[name])
}

func (s *Set) find(name string) (*Component, error) {
	if file, ok := s.Files[name]; ok {
		c, err := Load(file, s.Options)
		if errors.Is(err, store.ErrNotExist) { // it was said to be there
			err = &invalidError{fmt.Errorf("component %s is to be in %s, which does not exist", name, file)}
		}
		if err != nil {
			return nil, err
		}
		c.Name = name
		return c, nil
	}
	for _, c := range Builtin(s.Options) {
		if c.Name == name {
			return c, nil
		}
	}
	if IsFile(name) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		return Load(path, s.Options)
	}
	return nil, s.notFound(name)
}

// Has says whether a name is a user's component or a built-in one, or looks like a file.
func (s *Set) Has(name string) bool {
	return slices.Contains(s.Names(), name) || IsFile(name)
}

// IsFile says whether a name is that of a component's file: it ends in .toml or .json.
func IsFile(name string) bool { return hasSuffix(name, ".toml") || hasSuffix(name, ".json") }

func hasSuffix(name, suffix string) bool { return strings.EqualFold(filepath.Ext(name), suffix) }

// Names lists the names of a user's own components and of those that are built in,
// sorted, each once.
func (s *Set) Names() []string {
	var names []string
	for name := range s.Files {
		names = append(names, name)
	}
	for _, c := range Builtin(s.Options) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Near lists the names that name may have been meant to be, sorted.
func (s *Set) Near(name string) []string {
	return slices.DeleteFunc(s.Names(), func(n string) bool {
		_, last, _ := strings.Cut(n, ".")
		return n != name && last != name && runner.Slips(n, name) > 2
	})
}

func (s *Set) notFound(name string) error {
	why := "known: " + strings.Join(s.Names(), ", ")
	if near := s.Near(name); len(near) > 0 {
		why = "near: " + strings.Join(near, ", ")
	}
	return &store.Error{Op: "find component", Key: name, Kind: store.ErrNotExist,
		Err: fmt.Errorf("no such component (%s; a file's name ends in .toml or .json)", why)}
}

// takeDefaults puts values from the configuration in the place of the defaults.
func (c *Component) takeDefaults(values map[string]any) error {
	for name, value := range values {
		p := c.Param(name)
		if p == nil {
			return fmt.Errorf("default from the configuration: %w", c.unknown(name))
		}
		checked, err := p.Type.check(value)
		if err != nil {
			return c.refuse(fmt.Errorf("default from the configuration: parameter %s: %w", p.Name, err))
		}
		p.Default, p.Required = checked, false
	}
	return nil
}

// read reads a component's file.
func read(path string) ([]byte, error) {
	const limit = 1 << 20
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &store.Error{Op: "find component", Key: path, Kind: store.ErrNotExist, Err: errors.New("no such file")}
	case err != nil:
		return nil, fmt.Errorf("read component: %w", err)
	case info.IsDir() || info.Size() > limit:
		return nil, &invalidError{fmt.Errorf("read component %s: it is no file of at most 1 MiB", path)}
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read component: %w", err)
	}
	return body, nil
}

// Component makes the App of a component. args are as on a command line, values are by
// the names of its parameters; args win. It makes Set a runner.Components.
func (s *Set) Component(_ context.Context, name string, args []string, values map[string]any) (runner.App, error) {
	c, err := s.Find(name)
	if err != nil {
		return runner.App{}, err
	}
	given, err := c.ParseArgs(args)
	if errors.Is(err, ErrHelp) {
		err = &invalidError{fmt.Errorf("component %s: --help is for people", name)}
	}
	if err != nil {
		return runner.App{}, err
	}
	for key, value := range values {
		if p := c.Param(key); p != nil {
			if _, won := given[p.Name]; won {
				continue
			}
		}
		given[key] = value
	}
	return c.App(given)
}
