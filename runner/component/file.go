package component

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// Load reads a user's own component from a file, TOML or, where its name ends in
// .json, JSON. The component's name is that of the file. One that does not exist has
// kind store.ErrNotExist, one that is no component store.ErrInvalid.
//
//	help = "Train on the digits."
//
//	[params.epochs]
//	type = "int"            # str (the default), int, float, bool, list, dict
//	default = 10            # none: the parameter may be absent, or must be given if
//	required = false        # this is true
//	help = "passes over the data"
//	choices = [1, 10, 100]  # none: any
//
//	[[roles]]
//	name = "trainer"
//	entrypoint = "python"
//	args = ["train.py", "--epochs={{epochs}}"]
//
// Roles have the fields of runner.Role by their JSON names; resource may be a name;
// mounts may be as in runner.ParseMounts. Beside roles there may be name, the App's,
// and metadata. In any text {{epochs}} is a parameter; a text that is nothing else takes
// its type, and a list in a list becomes part of it. What names an absent parameter is left
// out; so is all of ["--resume", "{{resume}}"] as an element of a list. {when = "verbose",
// args = ["-v"]} as an element stands for its args if the bool is true, or the parameter there.
// A key "..." takes up a dict. {{{{ is written for {{.
//
// A parameter with type = "list" and rest = true takes the arguments behind the options.
func Load(path string, o *Options) (*Component, error) {
	body, err := read(path)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	c, err := Parse(strings.TrimSuffix(base, filepath.Ext(base)), body, hasSuffix(path, ".json"), o)
	if err != nil {
		return nil, fmt.Errorf("read component from %s: %w", path, err)
	}
	c.Origin = path
	return c, nil
}

// Parse is Load for what a file holds.
func Parse(name string, body []byte, isJSON bool, o *Options) (*Component, error) {
	tree, err := decode(body, isJSON)
	if err != nil {
		return nil, &invalidError{err}
	}
	f := file{settings: o.settings(), tree: tree, name: name}
	c := &Component{Name: name}
	if c.Help, c.Params, err = f.head(); err != nil {
		return nil, &invalidError{err}
	}
	f.params = c.Params
	c.make = f.app
	trial := f
	trial.trial = true
	if _, err := trial.app(f.sample()); err != nil {
		return nil, &invalidError{err}
	}
	return c, nil
}

// decode gives the document as maps, lists and scalars.
func decode(body []byte, isJSON bool) (map[string]any, error) {
	var tree map[string]any
	if !isJSON {
		err := toml.Unmarshal(body, &tree)
		var broken *toml.DecodeError
		if errors.As(err, &broken) {
			line, column := broken.Position()
			return nil, fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(broken.Error(), "toml: "))
		}
		return tree, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	return plainNumbers(tree).(map[string]any), nil
}

// plainNumbers replaces JSON's numbers by int64 or float64.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

// file is a component's file.
type file struct {
	settings
	name   string
	tree   map[string]any
	params []Param
	trial  bool // the values are samples
}

// head reads what is said beside the App.
func (f *file) head() (help string, params []Param, err error) {
	for _, key := range slices.Sorted(maps.Keys(f.tree)) {
		if !slices.Contains([]string{"help", "params", "name", "metadata", "roles"}, key) {
			return "", nil, fmt.Errorf("unknown key %q, known: help, params, name, metadata, roles", key)
		}
	}
	help, isText := f.tree["help"].(string)
	if !isText && f.tree["help"] != nil {
		return "", nil, errors.New("help is no text")
	}
	if help == "" {
		help = "The component " + f.name + "."
	}
	if _, isList := f.tree["roles"].([]any); !isList {
		return "", nil, errors.New("there are no [[roles]]")
	}
	table, isTable := f.tree["params"].(map[string]any)
	if !isTable && f.tree["params"] != nil {
		return "", nil, errors.New("params is no table")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		p, err := readParam(name, table[name])
		if err != nil {
			return "", nil, fmt.Errorf("params.%s: %w", name, err)
		}
		params = append(params, p)
	}
	return help, inOrder(params), checkRest(params)
}

// inOrder puts the parameter that takes the rest first, then those required.
func inOrder(params []Param) []Param {
	rank := func(p Param) int {
		switch {
		case p.Rest:
			return 0
		case p.Required:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(params, func(x, y Param) int { return rank(x) - rank(y) })
	return params
}

func checkRest(params []Param) error {
	n := 0
	seen := map[string]string{"help": "help"}
	for _, p := range params {
		if p.Rest {
			n++
		}
		same := strings.ReplaceAll(p.Name, "-", "_")
		if other, taken := seen[same]; taken {
			return fmt.Errorf("params.%s: the name is taken by %s", p.Name, other)
		}
		seen[same] = p.Name
	}
	if n > 1 {
		return errors.New("more than one parameter takes the rest")
	}
	return nil
}

var paramName = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_-]*$`)

// readParam reads one table of params, or the short form NAME = DEFAULT.
func readParam(name string, v any) (Param, error) {
	p := Param{Name: name, Type: String}
	if !paramName().MatchString(name) {
		return p, errors.New("a name is made of letters, digits, - and _")
	}
	table, isTable := v.(map[string]any)
	if !isTable {
		return p, errors.New("it is no table, as in [params." + name + "]")
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if err := p.set(key, table[key]); err != nil {
			return p, err
		}
	}
	return p, p.complete(table["default"])
}

func (p *Param) set(key string, v any) error {
	var ok bool
	var err error
	switch key {
	case "type":
		text, _ := v.(string)
		p.Type, err = parseType(text)
		return err
	case "help":
		p.Help, ok = v.(string)
	case "required":
		p.Required, ok = v.(bool)
	case "rest":
		p.Rest, ok = v.(bool)
	case "choices":
		list, isList := v.([]any)
		ok = isList
		if p.Choices, err = texts(list); err != nil {
			return fmt.Errorf("choices: %w", err)
		}
	case "default":
		return nil // read when the type is known
	default:
		return fmt.Errorf("unknown key %q, known: type, default, required, help, choices, rest", key)
	}
	if !ok {
		return fmt.Errorf("%s is %v, which is of another type", key, v)
	}
	return nil
}

// complete checks what belongs together.
func (p *Param) complete(value any) (err error) {
	if p.Rest && p.Type != List {
		return errors.New(`what takes the rest has type = "list"`)
	}
	if value == nil {
		return nil
	}
	if p.Required {
		return errors.New("it is required and has a default")
	}
	if p.Default, err = p.Type.check(value); err == nil {
		err = p.choose(p.Default)
	}
	if err != nil {
		return fmt.Errorf("default: %w", err)
	}
	return nil
}

// choose refuses a value that is none of the choices.
func (p *Param) choose(v any) error {
	if len(p.Choices) == 0 || slices.Contains(p.Choices, write(v)) {
		return nil
	}
	return fmt.Errorf("%q is not one of %s", write(v), strings.Join(p.Choices, ", "))
}

// sample gives each parameter a value, so that the App can be tried.
func (f *file) sample() Values {
	v := Values{}
	for _, p := range f.params {
		switch {
		case p.Default != nil:
			v[p.Name] = p.Default
		case len(p.Choices) > 0:
			v[p.Name], _ = p.Type.Parse(p.Choices[0])
		default:
			v[p.Name], _ = p.Type.Parse(map[Type]string{String: "x", Int: "1", Float: "1", Bool: "true", List: "x", Map: "X=x"}[p.Type])
		}
	}
	return v
}

// app makes the App of the file.
func (f *file) app(v Values) (runner.App, error) {
	t := template{values: v, params: f.params}
	tree := map[string]any{"name": f.name}
	for _, key := range []string{"name", "metadata"} {
		expanded, err := t.expand(f.tree[key])
		if err != nil {
			return runner.App{}, fmt.Errorf("%s: %w", key, err)
		}
		if expanded != nil && expanded != absent {
			tree[key] = scalarsOf(expanded)
		}
	}
	var roles []any
	for i, role := range f.tree["roles"].([]any) {
		expanded, err := f.role(t, role)
		if err != nil {
			return runner.App{}, fmt.Errorf("roles[%d]: %w", i, err)
		}
		roles = append(roles, expanded)
	}
	tree["roles"] = roles
	body, err := json.Marshal(tree)
	if err != nil {
		return runner.App{}, err
	}
	var app runner.App
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&app); err != nil {
		return runner.App{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return app, nil
}

// role expands one role and brings it to the form that runner.Role reads.
func (f *file) role(t template, v any) (any, error) {
	expanded, err := t.expand(v)
	if err != nil {
		return nil, err
	}
	role, isTable := expanded.(map[string]any)
	if !isTable {
		return nil, errors.New("it is no table")
	}
	if _, said := role["num_replicas"]; !said {
		role["num_replicas"] = 1
	}
	for _, key := range []string{"args", "env"} {
		if v, said := role[key]; said {
			role[key] = scalarsOf(v)
		}
	}
	if name, isText := role["resource"].(string); isText {
		role["resource"], err = f.resources.Get(name)
		if sampled := f.trial && mark().MatchString(fmt.Sprint(v.(map[string]any)["resource"])); err != nil && !sampled {
			return nil, err
		}
	}
	if mounts, isList := role["mounts"].([]any); isList && len(mounts) > 0 {
		if words, err := texts(mounts); err == nil {
			if role["mounts"], err = runner.ParseMounts(words); err != nil {
				return nil, err
			}
		}
	}
	return role, nil
}

// scalarsOf writes the numbers and bools of a list or table as text.
func scalarsOf(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = scalarsOf(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = scalarsOf(v[key])
		}
	case bool, int, int64, float64:
		text, _ := scalar(v)
		return text
	}
	return v
}
