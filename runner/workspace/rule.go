package workspace

import "strings"

// rule is one line of an ignore file.
type rule struct {
	negative bool   // "!": what earlier rules leave out is kept after all
	dirOnly  bool   // a slash at the end
	byName   bool   // no slash but that: it is held against the last element, at any depth
	prefix   string // literal beginning
	rest     glob   // what follows it
	exact    bool   // nothing follows it
}

// parseRules reads an ignore file by git's rules. Lines that cannot match
// anything, among them malformed ones, are passed over as git does.
func parseRules(body string) []rule {
	var rules []rule
	body = strings.TrimPrefix(body, "\ufeff")
	for line := range strings.Lines(body) {
		line, ended := strings.CutSuffix(line, "\n")
		if ended {
			line = strings.TrimSuffix(line, "\r")
		}
		line, _, _ = strings.Cut(line, "\x00")
		if r, ok := parseRule(line); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	pattern := trimSpaces(line)
	pattern, r.negative = strings.CutPrefix(pattern, "!")
	// Where the slash at the end is escaped, the backslash is left without one.
	pattern, r.dirOnly = strings.CutSuffix(pattern, "/")
	r.byName = !strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if pattern == "" {
		return r, false
	}
	literals := strings.IndexAny(pattern, `*?[\`)
	if literals < 0 {
		r.prefix, r.exact = pattern, true
		return r, true
	}
	r.prefix = pattern[:literals]
	r.rest, ok = compileGlob(pattern[literals:], !r.byName)
	return r, ok
}

// trimSpaces cuts spaces off the end that are not escaped.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// match holds the rule against what lies at path, relative to the rule's own
// directory; name is its last element.
func (r rule) match(path, name string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	text := path
	if r.byName {
		text = name
	}
	rest, ok := strings.CutPrefix(text, r.prefix)
	if !ok || r.exact {
		return ok && rest == ""
	}
	return r.rest.match(rest)
}
