package component

import (
	"fmt"
	"strings"
)

// Usage is the help of the component for a terminal: how it is called, what it does,
// its parameters. Lines are at most about 80 columns wide.
func (c *Component) Usage(program string) string {
	var b strings.Builder
	line := program + " " + c.Name
	var rest *Param
	for i, p := range c.Params {
		switch {
		case p.Rest:
			rest = &c.Params[i]
		case p.Required:
			line += " " + p.flag() + " " + p.placeholder()
		}
	}
	line += " [OPTION...]"
	if rest != nil {
		line += " [--] [" + strings.ToUpper(rest.Name) + "...]"
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(c.Help), line)
	if c.Origin != "" {
		fmt.Fprintf(&b, "\nFrom %s\n", c.Origin)
	}
	if len(c.Params) > 0 {
		b.WriteString("\nParameters:\n")
	}
	for _, p := range c.Params {
		p.usage(&b)
	}
	return b.String()
}

func (p Param) usage(b *strings.Builder) {
	head := "  " + p.flag()
	if p.Rest {
		head += "..."
	} else {
		head += " " + p.placeholder()
	}
	fmt.Fprintf(b, "%-26s", head)
	if len(head) >= 26 {
		fmt.Fprintf(b, "\n%26s", "")
	}
	text := p.Help
	if len(p.Choices) > 0 {
		text += ": " + strings.Join(p.Choices, ", ")
	}
	switch {
	case p.Required:
		text += " (required)"
	case p.Default != nil && write(p.Default) != "":
		text += fmt.Sprintf(" (default %s)", write(p.Default))
	}
	b.WriteString(wrap(strings.TrimSpace(text), 54, 26) + "\n")
}

func (p Param) placeholder() string {
	switch p.Type {
	case List:
		return "A,B"
	case Map:
		return "K=V,K=V"
	}
	return strings.ToUpper(string(p.Type))
}

// wrap breaks text into lines of a width, the further ones indented.
func wrap(text string, width, indent int) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(text) {
		if n > 0 && n+1+len(word) > width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			n = 0
		}
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
