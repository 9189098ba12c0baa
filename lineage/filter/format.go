package filter

import (
	"strings"
	"time"
)

func (e *And) String() string { return group(e.X) + " and " + group(e.Y) }
func (e *Or) String() string  { return group(e.X) + " or " + group(e.Y) }
func (e *Not) String() string { return "not " + group(e.X) }

// group puts what binds otherwise into parentheses.
func group(e Expr) string {
	if _, ok := e.(*Compare); ok {
		return e.String()
	}
	return "(" + e.String() + ")"
}

func (c *Compare) String() string {
	negation := ""
	if c.Negate {
		negation = "NOT "
	}
	switch c.Op {
	case IsNull:
		return c.Field.String() + " IS " + negation + "NULL"
	case In:
		list := make([]string, len(c.Values))
		for i, v := range c.Values {
			list[i] = v.format(c.Field.Type())
		}
		return c.Field.String() + " " + negation + "IN (" + strings.Join(list, ", ") + ")"
	}
	return c.Field.String() + " " + negation + string(c.Op) + " " + c.Values[0].format(c.Field.Type())
}

// String is the field as a filter spells it.
func (f Field) String() string {
	name := f.Name
	if wordSize(name) != len(name) || isNumber(name) {
		name = quote(name, `"`)
	}
	return string(f.Entity) + "." + name
}

func (v Literal) format(kind Type) string {
	switch {
	case kind == Time:
		return quote(time.Unix(0, v.Nanos).UTC().Format(time.RFC3339Nano), "'")
	case v.IsNumber:
		return v.Text
	}
	return quote(v.Text, "'")
}

func quote(s, mark string) string {
	return mark + strings.ReplaceAll(s, mark, mark+mark) + mark
}
