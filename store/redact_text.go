package store

import (
	"regexp"
	"strings"
)

var (
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----|\z)`)
	// userinfo is what stands between "://" and the last "@" of a run of text without blanks. A password should have its
	// slashes escaped; often it has not.
	userinfo    = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*)://([^\s"<>@/]*(?:@[^\s"<>@/]*)*|[^\s"<>@/:]+:[^\s"<>@]*)@`)
	hostAndPort = regexp.MustCompile(`^[^:@]+:[0-9]{1,5}/`)
	header      = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)(["']?\s*[:=]\s*["']?)([^"'\r\n]+)`)
	bearer      = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)([A-Za-z0-9+/=._~-]{8,})`)
	assignment  = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)\\*["']?[ \t]*(?:=>|:=|==|[=:])[ \t]*`)
	flag        = regexp.MustCompile(`(?:^|[\s"'=(\[,])(--?[A-Za-z_][A-Za-z0-9_.-]*)\\*["']?,?[ \t]+`)
	wandbKey    = regexp.MustCompile(`(?i)(wandb.{0,40}?)\b([0-9a-f]{40})\b`)
)

// shapes are secrets that show what they are.
var shapes = regexp.MustCompile(strings.Join([]string{
	`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
	`\bgh[pousr]_[A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\bglpat-[A-Za-z0-9_-]{16,}`,
	`\bxox[abeprs]-[A-Za-z0-9-]{8,}`,
	`\bsk-[A-Za-z0-9_-]*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*`,
	`\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`,
	`\bhf_[A-Za-z0-9]{30,}`,
	`\bdapi[0-9a-f]{32}(?:-[0-9]+)?`,
	`\bAIza[0-9A-Za-z_-]{30,}`,
	`\bya29\.[0-9A-Za-z_-]{8,}`,
	`\bnpm_[A-Za-z0-9]{30,}`,
	`\bpypi-[A-Za-z0-9_-]{30,}`,
	`\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`,
}, "|"))

func redactShapes(text string) string {
	return wandbKey.ReplaceAllString(shapes.ReplaceAllLiteralString(text, RedactedMark), "${1}"+RedactedMark)
}

func redactKeys(text string) string { return privateKey.ReplaceAllLiteralString(text, RedactedMark) }

// redactUserinfo leaves the user name of schemes where it is alone and no secret, as in ssh://git@host.
func redactUserinfo(text string) string {
	return userinfo.ReplaceAllStringFunc(text, func(found string) string {
		m := userinfo.FindStringSubmatch(found)
		scheme, user := strings.ToLower(m[1]), m[2]
		isWeb := strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "ftp") || strings.HasPrefix(scheme, "git+http")
		if user == "" || hostAndPort.MatchString(user) || (!strings.Contains(user, ":") && !isWeb) {
			return found
		}
		return m[1] + "://" + RedactedMark + "@"
	})
}

func redactHeaders(text string) string {
	text = header.ReplaceAllString(text, "${1}${2}"+RedactedMark)
	return bearer.ReplaceAllStringFunc(text, func(found string) string {
		m := bearer.FindStringSubmatch(found)
		if strings.EqualFold(m[1], "basic") && !strings.ContainsAny(m[3], "0123456789=+/") {
			return found // "basic training"
		}
		return m[1] + m[2] + RedactedMark
	})
}

// redactAssigned goes through name=value, name: value and "name": "value". What follows a harmless name is looked
// at from its beginning, for it may itself be an assignment.
func redactAssigned(text string) string {
	return replaceValues(text, assignment, func(before byte, name, sep string) judge {
		inQuery := before == '?' || before == '&'
		return judge{inQuery: inQuery, secret: func(value string, quoted bool) bool {
			if nameSecrecy(name) == weakSecret && strings.Contains(sep, ":") && !quoted {
				return false // "auth: permission denied"
			}
			return isSecret(name, value)
		}}
	})
}

// redactFlags goes through --name value.
func redactFlags(text string) string {
	return replaceValues(text, flag, func(_ byte, name, _ string) judge {
		return judge{secret: func(value string, _ bool) bool {
			return takesSecret(strings.TrimLeft(name, "-"), value)
		}}
	})
}

// takesSecret says whether the word behind the flag name is its secret value. Some flags have secret names and no value.
func takesSecret(name, value string) bool {
	return !strings.HasPrefix(value, "--") && !strings.EqualFold(name, "private") && isSecret(name, value)
}

// judge decides on a value once it is known.
type judge struct {
	inQuery bool // the value ends at an "&" too
	secret  func(value string, quoted bool) bool
}

// replaceValues finds names by pattern, whose one group is the name and whose rest is the separator.
func replaceValues(text string, pattern *regexp.Regexp, ask func(before byte, name, sep string) judge) string {
	var out strings.Builder
	for pos := 0; ; {
		m := pattern.FindStringSubmatchIndex(text[pos:])
		if m == nil {
			out.WriteString(text[pos:])
			return out.String()
		}
		start, end := pos+m[2], pos+m[1]
		var before byte
		if start > 0 {
			before = text[start-1]
		}
		j := ask(before, text[start:pos+m[3]], text[pos+m[3]:end])
		open, length := findValue(text[end:], j.inQuery)
		value := text[end+open : end+open+length]
		out.WriteString(text[pos:end])
		pos = end
		if length > 0 && !isMarked(value) && j.secret(value, open > 0) {
			out.WriteString(text[end : end+open])
			out.WriteString(RedactedMark)
			pos += open + length
		}
	}
}

// isMarked says whether nothing is left of a value but the mark, of which findValue may have cut the end.
func isMarked(value string) bool {
	return value == RedactedMark || value == strings.TrimRight(RedactedMark, closers)
}

// closers end what surrounds a value rather than the value.
const closers = `"'),;]}>\`

// findValue returns where the value at the start of s begins, behind its quote, and its length. Without quotes
// it goes to the next blank; a quote that is not closed goes to the end of the line.
func findValue(s string, inQuery bool) (open, length int) {
	slashes := len(s) - len(strings.TrimLeft(s, `\`))
	if rest := s[slashes:]; rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return slashes + 1, quotedLength(rest[1:], s[:slashes]+rest[:1])
	}
	length = len(s)
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		length = i
	}
	if i := strings.IndexAny(s[:length], "&#"); inQuery && i >= 0 {
		length = i
	}
	return 0, len(strings.TrimRight(s[:length], closers))
}

// quotedLength counts to the closing quote, which is written as the opening one was.
func quotedLength(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i
		case s[i] == '\n' || s[i] == '\r':
			return i
		case s[i] == '\\' && len(quote) == 1:
			i++
		}
	}
	return len(s)
}
