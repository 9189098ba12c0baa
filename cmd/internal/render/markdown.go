package render

import (
	"fmt"
	"strings"
	"unicode"
)

// markdownName writes a name as code that no Markdown acts upon: in an element of HTML, with every sign but letters,
// digits, spaces and dashes as a character reference. Neither emphasis, links, tables, mentions nor HTML come of it.
func markdownName(name string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range Sanitize(name) {
		if r == ' ' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "&#%d;", r)
	}
	b.WriteString("</code>")
	return b.String()
}
