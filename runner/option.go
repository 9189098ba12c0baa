package runner

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// OptionType is the type of an option, by the name that TorchX prints.
type OptionType string

// The types of options. A duration is text like "90s" or "1h30m", or a number of
// seconds.
const (
	TypeString   OptionType = "str"
	TypeInt      OptionType = "int"
	TypeFloat    OptionType = "float"
	TypeBool     OptionType = "bool"
	TypeList     OptionType = "list[str]"
	TypeDict     OptionType = "dict[str, str]"
	TypeDuration OptionType = "duration"
)

// Option is one option of a scheduler.
type Option struct {
	Name     string     `json:"name"`
	Aliases  []string   `json:"aliases,omitempty"` // other names, beside the other cases of this one
	Type     OptionType `json:"type"`
	Default  any        `json:"default"` // nil = none
	Required bool       `json:"required"`
	Help     string     `json:"help"`
}

func typeOf(t reflect.Type) (OptionType, bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return TypeDuration, true
	case t == reflect.TypeFor[[]string]():
		return TypeList, true
	case t == reflect.TypeFor[map[string]string]():
		return TypeDict, true
	}
	switch t.Kind() {
	case reflect.String:
		return TypeString, true
	case reflect.Int, reflect.Int64:
		return TypeInt, true
	case reflect.Float64:
		return TypeFloat, true
	case reflect.Bool:
		return TypeBool, true
	}
	return "", false
}

// parse reads the text of one value.
func (t OptionType) parse(text string) (any, error) {
	switch t {
	case TypeInt:
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return n, nil
		}
	case TypeFloat:
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	case TypeBool:
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "1", "yes", "on":
			return true, nil
		case "false", "0", "no", "off":
			return false, nil
		}
		return nil, fmt.Errorf("must be of type: bool, one of true, 1, yes, on, false, 0, no, off, but was: %q", text)
	case TypeDuration:
		return parseDuration(strings.TrimSpace(text))
	case TypeList, TypeDict:
		items, err := splitItems(text)
		if err != nil {
			return nil, err
		}
		return itemsValue(t, items)
	default:
		return text, nil
	}
	return nil, fmt.Errorf("must be of type: %s, but was: %q", t, text)
}

func parseDuration(text string) (any, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return secondsDuration(seconds)
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return nil, fmt.Errorf("must be of type: duration, such as 90s, 1h30m or a number of seconds, but was: %q", text)
}

func secondsDuration(seconds float64) (any, error) {
	if !(seconds >= 0 && seconds <= math.MaxInt64/1e9) {
		return nil, fmt.Errorf("must be of type: duration, 0 or more, but was: %v seconds", seconds)
	}
	return time.Duration(seconds * 1e9), nil
}

// dictOf reads items of the form key:value.
func dictOf(items []cfgItem) (any, error) {
	dict := make(map[string]string, len(items))
	for _, item := range items {
		switch _, twice := dict[item.key]; {
		case !item.isPair:
			return nil, fmt.Errorf("is a dict, whose items are key:value, but %q has no colon", item.text)
		case item.key == "":
			return nil, errors.New("is a dict, whose items are key:value, but one has no key")
		case twice:
			return nil, fmt.Errorf("is a dict, and has the key %q twice", item.key)
		}
		dict[item.key] = item.value
	}
	return dict, nil
}
