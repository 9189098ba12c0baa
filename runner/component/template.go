package component

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// template puts values in the place of the parameters that a tree of maps, lists
// and texts names.
type template struct {
	values Values
	params []Param
}

// absent stands for what names a parameter without a value.
var absent any = absence{}

type absence struct{}

// mark is {{name}}, the escape {{{{, or a {{ that is neither.
var mark = pattern.Lazy(`\{\{(?:\{\{|\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\})?`)

// expand gives a copy of the tree, or absent.
func (t template) expand(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return t.text(v)
	case []any:
		return t.list(v)
	case map[string]any:
		return t.table(v)
	}
	return v, nil
}

// text replaces the parameters in a text; one that is nothing else takes its type.
func (t template) text(text string) (any, error) {
	var fail error
	gone := false
	if m := mark().FindStringSubmatch(text); m != nil && m[0] == text && m[1] != "" {
		value, err := t.value(m[1])
		return generic(value), err
	}
	out := mark().ReplaceAllStringFunc(text, func(found string) string {
		name := mark().FindStringSubmatch(found)[1]
		switch {
		case found == "{{{{":
			return "{{"
		case name == "":
			fail = fmt.Errorf("%q: {{ begins no parameter; write {{{{ for {{ itself", text)
			return ""
		}
		value, err := t.value(name)
		if err != nil {
			fail = err
		}
		gone = gone || value == absent
		return write(value)
	})
	switch {
	case fail != nil:
		return nil, fail
	case gone:
		return absent, nil
	}
	return out, nil
}

// value is that of a parameter, or absent.
func (t template) value(name string) (any, error) {
	c := Component{Params: t.params}
	p := c.Param(name)
	if p == nil {
		return nil, fmt.Errorf("there is no parameter %q", name)
	}
	if v, there := t.values[p.Name]; there {
		return v, nil
	}
	return absent, nil
}

// generic turns lists and maps into those of a tree.
func generic(v any) any {
	switch v := v.(type) {
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return list
	case map[string]string:
		table := make(map[string]any, len(v))
		for key := range v {
			table[key] = v[key]
		}
		return table
	}
	return v
}

// list expands the elements, leaves out those that are absent, and takes up lists.
func (t template) list(elements []any) (any, error) {
	all := []any{}
	for _, element := range elements {
		expanded, err := t.element(element)
		if err != nil {
			return nil, err
		}
		if inner, isList := expanded.([]any); isList {
			all = append(all, inner...)
		} else if expanded != absent {
			all = append(all, expanded)
		}
	}
	return all, nil
}

func (t template) element(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return t.together(v)
	case map[string]any:
		if when, conditional := v["when"]; conditional {
			return t.when(when, v)
		}
	}
	return t.expand(v)
}

// together expands a list that is absent as a whole where one element is.
func (t template) together(elements []any) (any, error) {
	for _, element := range elements {
		expanded, err := t.element(element)
		if err != nil {
			return nil, err
		}
		if expanded == absent {
			return absent, nil
		}
	}
	return t.list(elements)
}

// when is {when = PARAMETER, args = [...]}.
func (t template) when(condition any, table map[string]any) (any, error) {
	args, isList := table["args"].([]any)
	name, isText := condition.(string)
	if len(table) != 2 || !isList || !isText {
		return nil, errors.New(`a condition is written {when = "PARAMETER", args = [...]}`)
	}
	value, err := t.value(name)
	if err != nil {
		return nil, err
	}
	if value == absent || value == false {
		// what is not wanted must be right as well
		if _, err := t.list(args); err != nil {
			return nil, err
		}
		return absent, nil
	}
	return t.list(args)
}

// table expands the values, leaves out those that are absent, and takes up what the
// key "..." holds, over which the others win.
func (t template) table(entries map[string]any) (any, error) {
	all := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		expanded, err := t.expand(entries[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(key), err)
		}
		inner, isTable := expanded.(map[string]any)
		switch {
		case expanded == absent:
		case key != "...":
			all[key] = expanded
		case !isTable:
			return nil, errors.New(`the key "..." takes up a dict`)
		default:
			for name, value := range inner {
				if _, own := entries[name]; !own {
					all[name] = value
				}
			}
		}
	}
	return all, nil
}
