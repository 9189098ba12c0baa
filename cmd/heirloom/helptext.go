package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// adoptCompletion makes cobra's command for the scripts of shells one of ours: told of in our words, and refusing a
// shell that it does not know.
func adoptCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra has none
	}
	c.Short = "print the script that completes commands in your shell"
	c.Long = `Print the script that completes commands, flags, runs, artifacts and paths in your shell.
The help of each shell says where the script goes.`
	c.Example = `  source <(heirloom completion bash)
  heirloom completion bash --help`
	for _, shell := range c.Commands() {
		shell.Short = "print the script for " + shell.Name()
	}
	group(c)
}

// usageTemplate is cobra's without the line of a group by itself, which does nothing.
func usageTemplate(root *cobra.Command) string {
	text := strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1)
	return strings.ReplaceAll(text, "[command]", "COMMAND")
}

// sentences gives each command below c that has nothing more to tell its short description as a sentence.
func sentences(c *cobra.Command) {
	for _, child := range c.Commands() {
		if child.Long == "" && child.Short != "" {
			first, size := utf8.DecodeRuneInString(child.Short)
			child.Long = string(unicode.ToUpper(first)) + child.Short[size:] + "."
		}
		sentences(child)
	}
}
