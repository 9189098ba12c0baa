package component

import (
	"errors"
	"fmt"
	"strings"
)

// ErrHelp is what ParseArgs gives where --help is asked for.
var ErrHelp = errors.New("help was asked for")

// ParseArgs reads the arguments of a command line: --name VALUE, --name=VALUE, -j
// VALUE for a parameter of one letter, --flag for a bool that is true. What follows
// the first argument that is no option, or "--", is that of the parameter that takes
// the rest. An option that is unknown, repeated or without a value is an error of
// kind store.ErrInvalid.
func (c *Component) ParseArgs(args []string) (Values, error) {
	v := Values{}
	for len(args) > 0 {
		word := args[0]
		if word == "--" || !strings.HasPrefix(word, "-") || word == "-" {
			return c.parseRest(v, args)
		}
		if word == "--help" {
			return nil, ErrHelp
		}
		used, err := c.parseOption(v, args)
		if err != nil {
			return nil, c.refuse(err)
		}
		args = args[used:]
	}
	return v, nil
}

// parseOption reads the option that args begin with and gives the number of words
// that it is written in.
func (c *Component) parseOption(v Values, args []string) (int, error) {
	name, text, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
	p := c.Param(name)
	if p == nil && !strings.HasPrefix(args[0], "--") && len(name) > 1 { // -j2x2
		if p = c.Param(name[:1]); p != nil {
			text, joined = strings.TrimPrefix(args[0], "-"+p.Name), true
		}
	}
	if p == nil || p.Rest {
		return 0, c.noOption(args[0])
	}
	if _, twice := v[p.Name]; twice {
		return 0, fmt.Errorf("%s is given twice", p.flag())
	}
	used := 1
	switch {
	case joined:
	case p.Type == Bool:
		text = "true"
		if len(args) > 1 {
			if _, err := parseBool(args[1]); err == nil {
				text, used = args[1], 2
			}
		}
	case len(args) == 1:
		return 0, fmt.Errorf("%s needs a value", p.flag())
	default:
		text, used = args[1], 2
	}
	value, err := p.Type.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.flag(), err)
	}
	v[p.Name] = value
	return used, nil
}

// noOption is the error for what is none of the component's options.
func (c *Component) noOption(word string) error {
	var known []string
	rest := ""
	for _, p := range c.Params {
		if p.Rest {
			rest = `; "--" goes before the program's own`
			continue
		}
		known = append(known, p.flag())
	}
	name, _, _ := strings.Cut(word, "=")
	return fmt.Errorf("no option %s, known: %s%s", name, strings.Join(known, ", "), rest)
}

func (c *Component) parseRest(v Values, args []string) (Values, error) {
	if args[0] == "--" {
		args = args[1:]
	}
	for _, p := range c.Params {
		if p.Rest {
			v[p.Name] = append([]string{}, args...)
			return v, nil
		}
	}
	if len(args) > 0 {
		return nil, c.refuse(fmt.Errorf("unexpected argument %q", args[0]))
	}
	return v, nil
}
