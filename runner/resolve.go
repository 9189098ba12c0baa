package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Resolve checks cfg and gives each option its value, that of cfg or its default,
// under its own name. A nil value in cfg stays nil. What is unknown, given
// twice under two names, of another type, or required and absent is an error of kind
// store.ErrInvalid. cfg is not changed.
func (s *OptionSet) Resolve(cfg Config) (Config, error) {
	resolved, err := s.named(cfg)
	if err != nil {
		return nil, err
	}
	for _, o := range s.List() {
		value, given := resolved[o.Name]
		switch {
		case o.Required && value == nil:
			return nil, optionError(o.Name, invalid("Required run option: %s, must be provided and not `None`. Given: %s", o.Name, shownConfig(cfg)))
		case !given:
			resolved[o.Name] = cloneOptionValue(o.Default)
		}
	}
	return resolved, nil
}

// named is cfg under the options' own names, each value of its type.
func (s *OptionSet) named(cfg Config) (Config, error) {
	named := make(Config, len(cfg))
	from := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(cfg)) {
		o, ok := s.Get(key)
		if !ok {
			return nil, s.unknown(key)
		}
		if other, twice := from[o.Name]; twice {
			return nil, optionError(o.Name, fmt.Errorf("run option %s is given twice, as %s and %s", o.Name, other, key))
		}
		from[o.Name] = key
		value, err := convert(o.Type, cfg[key])
		if err != nil {
			return nil, optionError(o.Name, fmt.Errorf("Run option: %s, %w", o.Name, err))
		}
		named[o.Name] = value
	}
	return named, nil
}

// Section reads the options of a scheduler's section in a configuration file of
// TorchX: each value is text, lists and dicts as Parse has them, and None is nil.
func (s *OptionSet) Section(values map[string]string) (Config, error) {
	cfg := make(Config, len(values))
	for key, text := range values {
		if text == "None" {
			cfg[key] = nil
		} else {
			cfg[key] = text
		}
	}
	return s.named(cfg)
}

// Decode resolves cfg and sets the fields of the struct that target points to, one of
// the type that the set was made of. Fields of options without a value are left
// as they are.
func (s *OptionSet) Decode(cfg Config, target any) error {
	resolved, err := s.Resolve(cfg)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("decode options into %T: not a pointer to a struct: %w", target, store.ErrInvalid)
	}
	v = v.Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.Anonymous || !field.IsExported() || field.Tag.Get("opt") == "-" {
			continue
		}
		value, known := resolved[fieldNames(field)[0]]
		if !known || value == nil {
			continue
		}
		setField(v.FieldByIndex(field.Index), reflect.ValueOf(value))
	}
	return nil
}

func setField(field, value reflect.Value) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	field.Set(value.Convert(field.Type()))
}

// unknown is the error for an option that is none.
func (s *OptionSet) unknown(name string) error {
	names := s.Names()
	if len(names) == 0 {
		return optionError(name, fmt.Errorf("unknown run option %s: this scheduler has none", name))
	}
	return optionError(name, fmt.Errorf("unknown run option %s%s; known: %s", name, suggest(name, names), strings.Join(names, ", ")))
}

func optionError(name string, err error) error {
	return &store.Error{Op: "read run option", Key: name, Kind: store.ErrInvalid, Err: err}
}

// shownConfig shows a configuration in an error.
func shownConfig(cfg Config) string {
	if len(cfg) == 0 {
		return "<EMPTY>"
	}
	text, err := json.Marshal(cfg.Redacted())
	if err != nil {
		return fmt.Sprint(len(cfg), " options")
	}
	return string(text)
}

func cloneOptionValue(v any) any {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v)
	case map[string]string:
		return maps.Clone(v)
	}
	return v
}
