package workspace

import "strings"

// glob is a compiled pattern: what remains to be matched when each token has been.
type glob []token

type tokenKind uint8

const (
	literal   tokenKind = iota // one byte
	anyByte                    // ?
	anyOf                      // [...]
	star                       // any bytes but slashes
	starstar                   // any bytes
	maybeDirs                  // the two tokens behind it, any bytes and a slash, or nothing
)

type token struct {
	kind tokenKind
	char byte
	set  *[256]bool
}

// compileGlob reads a pattern of gitignore. In one for a path no wildcard but **
// as a whole element matches a slash; in one for a name there are no slashes, and
// ** is *. What is malformed matches nothing: ok is false.
func compileGlob(pattern string, path bool) (g glob, ok bool) {
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '\\':
			if i+1 == len(pattern) {
				return nil, false
			}
			g = append(g, token{kind: literal, char: pattern[i+1]})
			i += 2
		case '?':
			g = append(g, token{kind: anyByte})
			i++
		case '[':
			set, n := parseSet(pattern[i:])
			if n == 0 {
				return nil, false
			}
			g = append(g, token{kind: anyOf, set: set})
			i += n
		case '*':
			run := len(pattern[i:]) - len(strings.TrimLeft(pattern[i:], "*"))
			tokens, n := stars(pattern, i, run, path)
			g = append(g, tokens...)
			i += n
		default:
			g = append(g, token{kind: literal, char: c})
			i++
		}
	}
	return g, true
}

// stars reads a run of asterisks, and the slash behind "**/", and says how many
// bytes that is.
func stars(pattern string, at, run int, path bool) ([]token, int) {
	rest := pattern[at+run:]
	whole := run > 1 && (at == 0 || pattern[at-1] == '/')
	switch {
	case !path || !whole:
	case strings.HasPrefix(rest, "/"):
		return []token{{kind: maybeDirs}, {kind: starstar}, {kind: literal, char: '/'}}, run + 1
	case rest == "", strings.HasPrefix(rest, `\/`):
		return []token{{kind: starstar}}, run
	}
	return []token{{kind: star}}, run
}

// match says whether the whole of text matches. It takes time proportional to
// the product of the lengths, whatever the pattern.
func (g glob) match(text string) bool {
	// live[i]: the tokens from i on may match what is left of the text.
	live := make([]bool, len(g)+1)
	next := make([]bool, len(g)+1)
	live[0] = true
	g.skip(live)
	for i := range len(text) {
		clear(next)
		any := false
		for t, token := range g {
			if live[t] && token.step(text[i], next, t) {
				any = true
			}
		}
		if !any {
			return false
		}
		g.skip(next)
		live, next = next, live
	}
	return live[len(g)]
}

// skip passes over tokens that may match nothing.
func (g glob) skip(live []bool) {
	for t, token := range g {
		if !live[t] || token.kind < star {
			continue
		}
		live[t+1] = true
		if token.kind == maybeDirs {
			live[t+3] = true
		}
	}
}

// step matches one byte, and says whether it could.
func (t token) step(c byte, next []bool, at int) bool {
	ok := t.takes(c)
	switch {
	case !ok:
	case t.kind == star || t.kind == starstar:
		next[at] = true
	default:
		next[at+1] = true
	}
	return ok
}

func (t token) takes(c byte) bool {
	switch t.kind {
	case anyByte, star:
		return c != '/'
	case anyOf:
		return c != '/' && t.set[c]
	case starstar:
		return true
	case maybeDirs:
		return false
	}
	return c == t.char
}
