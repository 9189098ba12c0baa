package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Config holds options of a scheduler by name. Values are string, int64, float64,
// bool, []string, map[string]string, time.Duration, or nil for an option that is said
// to have no value. Those of other types that mean the same, as JSON and TOML have
// them, are taken too, and made these by OptionSet.Resolve.
type Config map[string]any

// Merge is a copy of c with all of other in it, which wins. It follows TorchX's
// a | b.
func (c Config) Merge(other Config) Config {
	merged := make(Config, len(c)+len(other))
	maps.Copy(merged, c)
	maps.Copy(merged, other)
	return merged
}

// MarshalJSON writes durations as text, "1m30s".
func (c Config) MarshalJSON() ([]byte, error) {
	plain := make(map[string]any, len(c))
	for name, value := range c {
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		plain[name] = value
	}
	return json.Marshal(plain)
}

// Redacted is a copy for people, without secrets.
func (c Config) Redacted() Config {
	if c == nil {
		return nil
	}
	shown := make(Config, len(c))
	for name, value := range c {
		switch v := value.(type) {
		case string:
			shown[name] = redactNamed(name, v)
		case []string:
			shown[name] = store.RedactArgs(v)
		case map[string]string:
			shown[name] = redactEnv(v)
		default:
			shown[name] = value
		}
	}
	return shown
}

// redactNamed is value, unless its name or looks say that it is a secret.
func redactNamed(name, value string) string {
	_, shown, _ := strings.Cut(store.RedactArgs([]string{"--" + name + "=" + value})[0], "=")
	return shown
}

func redactEnv(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	shown := make(map[string]string, len(env))
	for name, value := range env {
		shown[name] = redactNamed(name, value)
	}
	return shown
}

// convert makes value what an option of type t holds. Text is read as t.
func convert(t OptionType, value any) (any, error) {
	if value == nil {
		return nil, nil
	}
	if text, ok := value.(string); ok {
		return t.parse(text)
	}
	switch t {
	case TypeInt:
		if n, ok := wholeNumber(value); ok {
			return n, nil
		}
	case TypeFloat:
		switch v := value.(type) {
		case float64:
			return v, nil
		case float32:
			return float64(v), nil
		}
		if n, ok := wholeNumber(value); ok {
			return float64(n), nil
		}
	case TypeBool:
		if b, ok := value.(bool); ok {
			return b, nil
		}
	case TypeDuration:
		if d, ok := value.(time.Duration); ok {
			return d, nil
		}
		if n, ok := wholeNumber(value); ok {
			return secondsDuration(float64(n))
		}
	case TypeList:
		return convertList(value)
	case TypeDict:
		return convertDict(value)
	}
	return nil, mismatch(t, value)
}

func mismatch(t OptionType, value any) error {
	return fmt.Errorf("must be of type: %s, but was: %v (%s)", t, value, typeName(value))
}

// typeName is what people call the type of a value.
func typeName(value any) string {
	switch value.(type) {
	case string:
		return string(TypeString)
	case bool:
		return string(TypeBool)
	case int, int32, int64:
		return string(TypeInt)
	case float32, float64:
		return string(TypeFloat)
	case []string, []any:
		return "list"
	case map[string]string, map[string]any:
		return "dict"
	case time.Duration:
		return string(TypeDuration)
	}
	return fmt.Sprintf("%T", value)
}

func wholeNumber(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case float64: // as encoding/json reads all numbers
		if n := int64(v); float64(n) == v && n > -1<<53 && n < 1<<53 {
			return n, true
		}
	}
	return 0, false
}

func convertList(value any) (any, error) {
	switch v := value.(type) {
	case []string:
		return v, nil
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, mismatch(TypeList, value)
			}
			list[i] = text
		}
		return list, nil
	}
	return nil, mismatch(TypeList, value)
}

func convertDict(value any) (any, error) {
	switch v := value.(type) {
	case map[string]string:
		return v, nil
	case map[string]any:
		dict := make(map[string]string, len(v))
		for key, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, mismatch(TypeDict, value)
			}
			dict[key] = text
		}
		return dict, nil
	}
	return nil, mismatch(TypeDict, value)
}
