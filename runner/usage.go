package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Usage describes the options as TorchX's runopts command does, required ones
// first:
//
//	usage:
//	    account=ACCOUNT,[time=TIME]
//
//	required arguments:
//	    account=ACCOUNT (str)
//	        who pays
func (s *OptionSet) Usage() string {
	var required, optional []Option
	for _, o := range s.List() {
		if o.Required {
			required = append(required, o)
		} else {
			optional = append(optional, o)
		}
	}
	var b strings.Builder
	b.WriteString("    usage:\n        ")
	for i, o := range append(slices.Clone(required), optional...) {
		if i > 0 {
			b.WriteByte(',')
		}
		if o.Required {
			b.WriteString(o.form())
		} else {
			b.WriteString("[" + o.form() + "]")
		}
	}
	writeSection(&b, "required", required)
	writeSection(&b, "optional", optional)
	return b.String()
}

func writeSection(b *strings.Builder, name string, options []Option) {
	if len(options) > 0 {
		fmt.Fprintf(b, "\n\n    %s arguments:", name)
	}
	for _, o := range options {
		fmt.Fprintf(b, "\n        %s (%s", o.form(), o.Type)
		if !o.Required {
			b.WriteString(", " + FormatOption(o.Default))
		}
		b.WriteByte(')')
		if len(o.Aliases) > 0 {
			b.WriteString(" also " + strings.Join(o.Aliases, ", "))
		}
		if o.Help != "" {
			b.WriteString("\n            " + o.Help)
		}
	}
}

func (o Option) form() string { return o.Name + "=" + strings.ToUpper(o.Name) }

// FormatOption writes a value of an option so that OptionSet.Parse reads it again
// after "name="; none is "None".
func FormatOption(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case string:
		return quotedOption(v, ",;=")
	case time.Duration:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []string:
		return joinedOption(v, "[]")
	case map[string]string:
		items := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			items = append(items, quotedOption(key, ",;=:")+":"+quotedOption(v[key], ",;="))
		}
		if len(items) == 0 {
			return "{}"
		}
		return strings.Join(items, ",")
	}
	return fmt.Sprint(value)
}

func joinedOption(items []string, empty string) string {
	if len(items) == 0 {
		return empty
	}
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quotedOption(item, ",;=:")
	}
	return strings.Join(quoted, ",")
}

// quotedOption is text in quotes where it would not be read back without.
func quotedOption(text, special string) string {
	plain := text != "" && strings.Trim(text, blanks) == text && !strings.ContainsAny(text, special+`'"`) && text != "[]" && text != "{}"
	if plain {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
