package store

import (
	"regexp"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

var (
	// privateKey knows it in a URL too.
	privateKey = pattern.Lazy(`(?s)-----BEGIN[A-Z0-9 +%]*PRIVATE[ +%20]+KEY[A-Z0-9 +%]*-----.*?(-----END[A-Z0-9 +%]*PRIVATE[ +%20]+KEY[A-Z0-9 +%]*-----|\z)`)
	// userinfo is what stands between "://" and the last "@" of a run of text without blanks. A password should have its
	// slashes escaped; often it has not.
	userinfo    = pattern.Lazy(`([A-Za-z][A-Za-z0-9+.-]*)://([^\s"<>@/]*(?:@[^\s"<>@/]*)*|[^\s"<>@/:]+:[^\s"<>]*)@`)
	hostAndPort = pattern.Lazy(`^[^:@]+:[0-9]{1,5}/`)
	header      = pattern.Lazy(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)(["']?\s*[:=]\s*["']?)([^"'\r\n]+)`)
	bearer      = pattern.Lazy(`(?i)\b(bearer|basic)(\s+)([A-Za-z0-9+/=._~-]{8,})`)
	assignment  = pattern.Lazy(`([A-Za-z_][A-Za-z0-9_.-]*)\\*["']?[ \t]*(?:=>|:=|==|[=:])[ \t]*`)
	flag        = pattern.Lazy(`(?:^|[\s"'=(\[,])(--?[A-Za-z_][A-Za-z0-9_.-]*)\\*["']?,?[ \t]+`)
)

// systemError is what systems and Go say of a file that cannot be had, which is no secret though the file's name be that
// of one. Each has two words or more.
var systemError = pattern.Lazy(`^(?i:permission denied|operation not permitted|access denied|no such file|no such device|no such process|` +
	`file does not exist|file already exists|file exists|file name too long|is a directory|not a directory|directory not empty|` +
	`read-only file system|no space left|disk quota exceeded|too many open files|input/output error|device or resource busy|` +
	`text file busy|invalid argument|bad file descriptor|stale file handle|connection refused|connection timed out|command not found|not found|unexpected EOF)\b`)

func redactKeys(text string) string { return privateKey().ReplaceAllLiteralString(text, RedactedMark) }

// redactUserinfo leaves the user name of schemes where it is alone and no secret, as in ssh://git@host.
func redactUserinfo(text string) string {
	return userinfo().ReplaceAllStringFunc(text, func(found string) string {
		m := userinfo().FindStringSubmatch(found)
		scheme, user := strings.ToLower(m[1]), m[2]
		isWeb := strings.HasPrefix(scheme, "http") || strings.HasPrefix(scheme, "ftp") || strings.HasPrefix(scheme, "git+http")
		if user == "" || hostAndPort().MatchString(user) || (!strings.Contains(user, ":") && !isWeb) {
			return found
		}
		return m[1] + "://" + RedactedMark + "@"
	})
}

func redactHeaders(text string) string {
	text = header().ReplaceAllString(text, "${1}${2}"+RedactedMark)
	return bearer().ReplaceAllStringFunc(text, func(found string) string {
		m := bearer().FindStringSubmatch(found)
		if strings.EqualFold(m[1], "basic") && !strings.ContainsAny(m[3], "0123456789=+/") {
			return found // "basic training"
		}
		return m[1] + m[2] + RedactedMark
	})
}

// redactAssigned goes through name=value, name: value and "name": "value". What follows a harmless name is looked
// at from its beginning, for it may itself be an assignment.
func redactAssigned(text string) string {
	return replaceValues(text, assignment(), func(f finding) bool {
		if nameSecrecy(f.name) == weakSecret && strings.Contains(f.sep, ":") && !f.quoted {
			return false // "auth: permission denied"
		}
		if strings.HasSuffix(strings.TrimRight(f.sep, " \t"), ":") && systemError().MatchString(f.next) {
			return false // "/etc/passwd: permission denied"
		}
		if strings.HasPrefix(f.name, "Invalid") && f.sep == ": " && !f.quoted {
			return false // "InvalidAccessKeyId: The Access Key Id ...", as S3 says it
		}
		return isSecretName(f.name)
	})
}

// redactFlags goes through --name value.
func redactFlags(text string) string {
	return replaceValues(text, flag(), func(f finding) bool { return takesSecret(f.name, f.next) })
}

// takesSecret says whether the flag name has a secret behind it, in the next word. Some flags with secret names have no value.
func takesSecret(name, next string) bool {
	name = strings.TrimLeft(name, "-")
	return !strings.HasPrefix(next, "--") && !strings.EqualFold(name, "private") && isSecretName(name)
}

// finding is a name that something is assigned to.
type finding struct {
	name, sep string
	next      string // all that follows
	quoted    bool   // the value has quotes
}

// replaceValues replaces the values of the names that are found and secret accepts. The one group of names is
// the name, the rest of it the separator. Looking at a value costs its length, so only accepted names get that far.
func replaceValues(text string, names *regexp.Regexp, secret func(finding) bool) string {
	var out strings.Builder
	for pos := 0; ; {
		m := names.FindStringSubmatchIndex(text[pos:])
		if m == nil {
			out.WriteString(text[pos:])
			return out.String()
		}
		start, end := pos+m[2], pos+m[1]
		f := finding{name: text[start : pos+m[3]], sep: text[pos+m[3] : end], next: text[end:]}
		f.quoted = openingQuote(f.next) != ""
		out.WriteString(text[pos:end])
		pos = end
		if !secret(f) {
			continue
		}
		open, length := findValue(f.next, start > 0 && strings.IndexByte("?&", text[start-1]) >= 0)
		value := f.next[open : open+length]
		if !isPlainValue(f.name, value) && !isMarked(value) {
			out.WriteString(f.next[:open])
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
// it goes to the next blank, in the query of a URL to the next parameter; a quote that is not closed goes to the end of
// the line.
func findValue(s string, inQuery bool) (open, length int) {
	if quote := openingQuote(s); quote != "" {
		return len(quote), quotedLength(s[len(quote):], quote)
	}
	length = bareLength(s, inQuery)
	return 0, len(strings.TrimRight(s[:length], closers))
}

// bareLength counts to the next blank that has no backslash before it.
func bareLength(s string, inQuery bool) int {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t':
			if i > 0 && s[i-1] == '\\' && !inQuery {
				continue
			}
			return i
		case '\r', '\n':
			return i
		case '&', '#':
			if inQuery {
				return i
			}
		}
	}
	return len(s)
}

// openingQuote returns the quote that s begins with, together with the backslashes before it.
func openingQuote(s string) string {
	slashes := len(s) - len(strings.TrimLeft(s, `\`))
	if slashes < len(s) && (s[slashes] == '"' || s[slashes] == '\'') {
		return s[:slashes+1]
	}
	return ""
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
