package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// tables are what a file holds beside settings.
type tables struct {
	Components map[string]string         `toml:"components"`
	Component  map[string]map[string]any `toml:"component"`
	Schedulers map[string]map[string]any `toml:"scheduler"`
	Resources  map[string]map[string]any `toml:"named_resources"`
}

// Tables are what the files say of components, schedulers and resources. Of what several
// say the nearest counts: TorchX's files, the project's, the user's.
type Tables struct {
	layers []tablesLayer
}

type tablesLayer struct {
	tables
	commands map[string]map[string]any        // [cli:NAME], of TorchX's files alone
	file     func(section, key string) string // where an entry was read
	dir      string                           // that paths are relative to
	ours     bool                             // not TorchX's
}

// Entry is one value of a table.
type Entry struct {
	Key   string
	Value any    // as TOML has it; of TorchX's files always a string
	File  string // that says so
	Ours  bool   // not one of TorchX's, which may speak of what heirloom does not have
}

// LoadTables reads the files that Load reads, and TorchX's. Errors are those of Load.
func LoadTables(in Input) (*Tables, error) {
	env := environment(in.Environ)
	found, err := findProject(in.Dir)
	if err != nil {
		return nil, err
	}
	torchx, err := readTorchXFiles(env, in.Dir)
	if err != nil {
		return nil, err
	}
	t := &Tables{}
	if err := t.addTorchX(torchx); err != nil {
		return nil, err
	}
	for _, path := range []string{found.file, userFile(env)} {
		if path == "" {
			continue
		}
		doc, err := readDocument(path)
		if path != found.file && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		t.layers = append(t.layers, tablesLayer{tables: doc.tables, dir: filepath.Dir(path), ours: true, file: func(string, string) string { return path }})
	}
	return t, nil
}

// cliSection begins the name of a section of TorchX's files that has defaults of a command, as [cli:run].
const cliSection = "cli"

// addTorchX takes the sections of TorchX's files: [NAME] of a scheduler, [component:NAME], [cli:NAME], [named_resources].
// The text None is as if the key were not there.
func (t *Tables) addTorchX(f torchxFile) error {
	l := tablesLayer{file: func(section, key string) string { return f.get(section, key).file }}
	l.Component, l.Schedulers, l.Resources = map[string]map[string]any{}, map[string]map[string]any{}, map[string]map[string]any{}
	l.commands = map[string]map[string]any{}
	for _, section := range slices.Sorted(maps.Keys(f.sections)) {
		kind, name, named := strings.Cut(section, ":")
		values := map[string]any{}
		for key, v := range f.sections[section].values {
			if v.text != "None" {
				values[key] = v.text
			}
		}
		switch {
		case named && kind == cliSection:
			l.commands[name] = values
		case named && kind == "component":
			l.Component[name] = values
		case section == "named_resources":
			for key, v := range values {
				var resource map[string]any
				if err := json.Unmarshal([]byte(v.(string)), &resource); err != nil {
					return invalid("read %s: [named_resources] %s is no JSON object: %v", l.file(section, key), key, err)
				}
				l.Resources[key] = resource
			}
		case !named:
			l.Schedulers[section] = values
		}
	}
	t.layers = append(t.layers, l)
	return nil
}

// Components are a user's own components by name: the file of each, absolute.
func (t *Tables) Components() map[string]string {
	all := map[string]string{}
	for _, l := range slices.Backward(t.layers) {
		for name, file := range l.Components {
			all[name] = absolute(file, l.dir, "")
		}
	}
	return all
}

// Component are the defaults of the parameters of all components, by their names.
func (t *Tables) Component() map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, l := range slices.Backward(t.layers) {
		for name, values := range l.Component {
			if all[name] == nil {
				all[name] = map[string]any{}
			}
			maps.Copy(all[name], values)
		}
	}
	return all
}

// Scheduler are the defaults of the options of one scheduler, sorted by key, each once.
func (t *Tables) Scheduler(name string) []Entry {
	return t.entries(name, func(l tablesLayer) map[string]any { return l.Schedulers[name] })
}

// Command are the defaults of a command, which TorchX's files alone have ([cli:NAME]), sorted by key, each once.
func (t *Tables) Command(name string) []Entry {
	return t.entries(cliSection+":"+name, func(l tablesLayer) map[string]any { return l.commands[name] })
}

// entries joins what the layers have in a section.
func (t *Tables) entries(section string, of func(tablesLayer) map[string]any) []Entry {
	nearest := map[string]Entry{}
	for _, l := range slices.Backward(t.layers) {
		for key, value := range of(l) {
			nearest[key] = Entry{Key: key, Value: value, File: l.file(section, key), Ours: l.ours}
		}
	}
	var all []Entry
	for _, key := range slices.Sorted(maps.Keys(nearest)) {
		all = append(all, nearest[key])
	}
	return all
}

// Resources are the named resources, each as its fields.
func (t *Tables) Resources() map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, l := range slices.Backward(t.layers) {
		maps.Copy(all, l.Resources)
	}
	return all
}
