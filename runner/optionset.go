package runner

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/heirloom-ml/heirloom/store"
)

// OptionSet is the options of a scheduler. It is TorchX's runopts. It does not
// change once it is made; a nil one is empty.
type OptionSet struct {
	options []Option
	byName  map[string]int // each name of each option, in the form of folded
}

// OptionsOf makes the options of the exported fields of a struct:
//
//	Partition string        `opt:"partition,p" help:"where to run"`
//	Grace     time.Duration `opt:"grace" default:"30s" help:"…"`
//	Account   string        `opt:"account" required:"true" help:"…"`
//
// The tag opt holds the name and aliases; without it, the field's name in snake
// case. Types are string, int, int64, float64, bool, []string, map[string]string,
// time.Duration and pointers to these, which are nil when nothing is given. A field
// tagged opt:"-" is none; a struct that is embedded adds its own. Fields of other types, a
// default that does not fit, one of what is required, and two options of one name are
// errors of kind store.ErrInvalid.
func OptionsOf(structure any) (*OptionSet, error) {
	t := reflect.TypeOf(structure)
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("make options of %T: not a struct: %w", structure, store.ErrInvalid)
	}
	set := &OptionSet{byName: map[string]int{}}
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous || !field.IsExported() || field.Tag.Get("opt") == "-" {
			continue
		}
		option, err := optionOf(field)
		if err == nil {
			err = set.add(option)
		}
		if err != nil {
			return nil, fmt.Errorf("make options of %s: field %s %w: %w", t, field.Name, err, store.ErrInvalid)
		}
	}
	return set, nil
}

func optionOf(field reflect.StructField) (Option, error) {
	names := fieldNames(field)
	typ, ok := typeOf(field.Type)
	if !ok {
		return Option{}, fmt.Errorf("is of type %s, which no option has", field.Type)
	}
	option := Option{Name: names[0], Aliases: names[1:], Type: typ, Help: field.Tag.Get("help")}
	option.Required = field.Tag.Get("required") == "true"
	text, has := field.Tag.Lookup("default")
	if !has {
		return option, nil
	}
	if option.Required {
		return Option{}, fmt.Errorf("is required and must not specify default value. Given: %s", text)
	}
	var err error
	option.Default, err = typ.parse(text)
	return option, err
}

func fieldNames(field reflect.StructField) []string {
	if tag := field.Tag.Get("opt"); tag != "" {
		return strings.Split(tag, ",")
	}
	return []string{snake(field.Name)}
}

func (s *OptionSet) add(option Option) error {
	for _, name := range append([]string{option.Name}, option.Aliases...) {
		if !isOptionName(name) {
			return fmt.Errorf("has %q for a name, not letters, digits, \"_\", \"-\" and \".\"", name)
		}
		if other, taken := s.byName[folded(name)]; taken {
			return fmt.Errorf("has the name %s, as has %s", name, s.options[other].Name)
		}
	}
	for _, name := range append([]string{option.Name}, option.Aliases...) {
		s.byName[folded(name)] = len(s.options)
	}
	s.options = append(s.options, option)
	return nil
}

// Merge makes a set of the options of both, those of s first. Two of one name are an
// error of kind store.ErrInvalid.
func (s *OptionSet) Merge(other *OptionSet) (*OptionSet, error) {
	merged := &OptionSet{byName: map[string]int{}}
	for _, option := range append(s.List(), other.List()...) {
		if err := merged.add(option); err != nil {
			return nil, fmt.Errorf("merge options: %s %w: %w", option.Name, err, store.ErrInvalid)
		}
	}
	return merged, nil
}

// List gives the options in the order of their fields.
func (s *OptionSet) List() []Option {
	if s == nil {
		return nil
	}
	return slices.Clone(s.options)
}

// Get finds an option by its name, an alias, or another case of these, so that
// jobDir and job-dir are job_dir.
func (s *OptionSet) Get(name string) (Option, bool) {
	if s == nil {
		return Option{}, false
	}
	i, ok := s.byName[folded(name)]
	if !ok {
		return Option{}, false
	}
	return s.options[i], true
}

// Names lists the names of the options in order.
func (s *OptionSet) Names() []string {
	var names []string
	for _, o := range s.List() {
		names = append(names, o.Name)
	}
	return names
}

// folded is what the cases of a name have in common.
func folded(name string) string { return strings.ReplaceAll(snake(name), "-", "_") }

// snake is a name in camel case as one in snake case: logDir and LogDir become
// log_dir, UIURL uiurl.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// isOptionName says whether a word before a "=" is a key, rather than part of the
// value before it.
func isOptionName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}
