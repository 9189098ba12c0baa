package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// literalCfg writes --cfg for the literal -cfg that TorchX has, which would be taken for a row of short flags. What
// stands behind the command to run, or "--", is left as it is.
func literalCfg(root *cobra.Command, args []string) []string {
	c, _, err := root.Find(args)
	if err != nil || c.Flags().Lookup("cfg") == nil {
		return args
	}
	args = slices.Clone(args)
	positional := 0
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return args
		case word == "-cfg" || strings.HasPrefix(word, "-cfg="):
			args[i] = "-" + word
			if word == "-cfg" {
				i++
			}
		case strings.HasPrefix(word, "-") && word != "-":
			if takesNext(c, word) {
				i++
			}
		default:
			if positional++; positional > 1 { // the first is the name of our own command
				return args
			}
		}
	}
	return args
}

// takesNext says whether a flag's value is the word behind it.
func takesNext(c *cobra.Command, word string) bool {
	name, _, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if joined {
		return false
	}
	find := func(set *pflag.FlagSet) *pflag.Flag {
		if strings.HasPrefix(word, "--") {
			return set.Lookup(name)
		}
		return set.ShorthandLookup(name[len(name)-1:])
	}
	flag := find(c.Flags())
	if flag == nil {
		flag = find(c.InheritedFlags())
	}
	return flag != nil && flag.NoOptDefVal == "" && (strings.HasPrefix(word, "--") || len(name) == 1)
}
