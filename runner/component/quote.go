package component

import (
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// unsafe is what a shell may act upon; the pattern is that of Python's shlex.
var unsafe = pattern.Lazy(`[^A-Za-z0-9_@%+=:,./-]`)

// quote writes text as one word of a shell.
func quote(text string) string {
	if text == "" {
		return "''"
	}
	if !unsafe().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'"
}

func joinQuoted(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}
