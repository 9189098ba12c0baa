package component

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param is one parameter of a component.
type Param struct {
	Name     string // as in --num_replicas; of one letter also -j
	Type     Type
	Default  any      // of the Go type that Type names; nil = none
	Required bool     // it has no default
	Rest     bool     // a list: the arguments that follow the options
	Choices  []string // as they are written; none = any value
	Help     string   // a sentence
}

// flag is the parameter as it is written on a command line.
func (p Param) flag() string {
	switch {
	case p.Rest:
		return strings.ToUpper(p.Name)
	case len(p.Name) == 1:
		return "-" + p.Name
	}
	return "--" + p.Name
}

// Type is the type of a parameter, and of its values in Go.
type Type string

// The types.
const (
	String Type = "str"   // string
	Int    Type = "int"   // int
	Float  Type = "float" // float64, finite
	Bool   Type = "bool"  // bool
	List   Type = "list"  // []string; written a,b,c
	Map    Type = "dict"  // map[string]string; written K=v,L=w
)

// parseType knows the types, also by the names that other languages give them.
func parseType(name string) (Type, error) {
	switch strings.ToLower(name) {
	case "str", "string":
		return String, nil
	case "int", "integer":
		return Int, nil
	case "float", "number":
		return Float, nil
	case "bool", "boolean":
		return Bool, nil
	case "list", "list[str]", "array":
		return List, nil
	case "dict", "dict[str,str]", "map", "table":
		return Map, nil
	}
	return "", fmt.Errorf("no type %q, known: str, int, float, bool, list, dict", name)
}

// Parse reads a value as it is written on a command line.
func (t Type) Parse(text string) (any, error) {
	switch t {
	case String:
		return text, nil
	case Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", text)
		}
		return n, nil
	case Float:
		return parseFloat(text)
	case Bool:
		return parseBool(text)
	case List:
		return parseList(text), nil
	case Map:
		return parseMap(text)
	}
	return nil, fmt.Errorf("no type %q", string(t))
}

func parseFloat(text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return f, nil
}

func parseBool(text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return nil, fmt.Errorf("%q is neither true nor false", text)
}

// parseList splits at commas; an empty text is an empty list.
func parseList(text string) []string {
	list := []string{}
	if strings.TrimSpace(text) == "" {
		return list
	}
	for item := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(item))
	}
	return list
}

// parseMap reads K=v,L=w. A comma belongs to the value before it unless a key and
// = follow, so that values may hold some: A=1,2,B=3.
func parseMap(text string) (any, error) {
	pairs := map[string]string{}
	if strings.TrimSpace(text) == "" {
		return pairs, nil
	}
	last := ""
	for i, word := range strings.Split(text, ",") {
		key, value, found := strings.Cut(word, "=")
		key = strings.TrimSpace(key)
		switch {
		case !found && i == 0, found && key == "":
			return nil, fmt.Errorf("%q is not written K=V,K=V", text)
		case !found:
			pairs[last] += "," + word
			continue
		}
		if _, twice := pairs[key]; twice {
			return nil, fmt.Errorf("%q says %s twice", text, key)
		}
		last, pairs[key] = key, value
	}
	return pairs, nil
}

// check gives a value of the type, from one of it, or of JSON or TOML. Text is
// read as on a command line.
func (t Type) check(value any) (any, error) {
	if text, ok := value.(string); ok {
		return t.Parse(text)
	}
	switch v := value.(type) {
	case int:
		return t.checkWhole(v)
	case int64:
		return t.checkWhole(int(v))
	case float64:
		if v == math.Trunc(v) && t == Int && math.Abs(v) < 1<<53 {
			return int(v), nil
		}
		if t == Float && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, nil
		}
	case bool:
		if t == Bool {
			return v, nil
		}
	case []string:
		if t == List {
			return slices.Clone(v), nil
		}
	case []any:
		if t == List {
			return texts(v)
		}
	case map[string]string:
		if t == Map {
			return maps.Clone(v), nil
		}
	case map[string]any:
		if t == Map {
			return pairsOf(v)
		}
	}
	return nil, fmt.Errorf("%v is no %s", value, t)
}

func (t Type) checkWhole(n int) (any, error) {
	switch t {
	case Int:
		return n, nil
	case Float:
		return float64(n), nil
	}
	return nil, fmt.Errorf("%d is no %s", n, t)
}

func texts(values []any) ([]string, error) {
	list := make([]string, len(values))
	for i, v := range values {
		text, err := scalar(v)
		if err != nil {
			return nil, err
		}
		list[i] = text
	}
	return list, nil
}

func pairsOf(values map[string]any) (map[string]string, error) {
	pairs := make(map[string]string, len(values))
	for key, v := range values {
		text, err := scalar(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		pairs[key] = text
	}
	return pairs, nil
}

// scalar writes a value that is one as text.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	return "", fmt.Errorf("%v is neither text nor a number", v)
}

// write is a value as Parse reads it.
func write(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ",")
	case map[string]string:
		var words []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			words = append(words, key+"="+v[key])
		}
		return strings.Join(words, ",")
	}
	text, _ := scalar(v)
	return text
}
