package store

import (
	"regexp"
	"strings"
	"unicode"
)

// Words that make a name that of a secret. weakWords mean other things too, so that in prose, "auth: denied", they
// take nothing with them.
var (
	strongWords = wordSet("password passwd passphrase pwd secret secrets token apikey accesskey secretkey privatekey credential credentials authtoken")
	weakWords   = wordSet("pass auth authorization bearer cookie cookies session sessionid sas signature private dsn connstr connectionstring")
	strongPairs = wordSet("api key|access key|private key|secret key|account key|storage key|encryption key|signing key|" +
		"shared key|ssh key|master key|auth key|client key|subscription key|conn str|connection str|connection string|access id")
	strongEnds = regexp.MustCompile(`(password|passwd|passphrase|secret|token|apikey|accesskey|secretkey|privatekey|credentials?)$`)
	bareNames  = wordSet("sig jwt pat googleaccessid awsaccesskeyid")
	// plainEnds turn the name of a secret into that of something about it.
	plainEnds = wordSet("file path dir directory name type url uri endpoint host port count length len size limit budget ttl timeout expiry mode")
	// plainStarts do so for tokens of text.
	plainStarts = wordSet("eos bos pad unk sep cls mask special image start end stop next per num max min first last")
	// plainNames look like those of secrets and are none.
	plainNames = wordSet("PWD OLDPWD")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	split := unicode.IsSpace
	if strings.Contains(words, "|") {
		split = func(r rune) bool { return r == '|' }
	}
	for _, w := range strings.FieldsFunc(words, split) {
		set[w] = true
	}
	return set
}

type secrecy int

const (
	notSecret secrecy = iota
	weakSecret
	strongSecret
)

// isSecretName says whether what is assigned to name is likely a secret.
func isSecretName(name string) bool { return nameSecrecy(name) != notSecret }

// isSecret looks at the value too: names such as token_count say what kind of value they have.
func isSecret(name, value string) bool {
	return nameSecrecy(name) != notSecret && !isFlagValue(value)
}

// isFlagValue says whether a value switches something on or off, or is none.
func isFlagValue(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "none", "null", "nil":
		return true
	}
	return false
}

func nameSecrecy(name string) secrecy {
	if plainNames[name] {
		return notSecret
	}
	words := nameWords(name)
	if len(words) == 0 || (len(words) > 1 && plainEnds[words[len(words)-1]]) {
		return notSecret
	}
	found := notSecret
	for i, w := range words {
		switch {
		case w == "token" && i > 0 && plainStarts[words[i-1]]:
		case strongWords[w], strongEnds.MatchString(w), i > 0 && strongPairs[words[i-1]+" "+w]:
			return strongSecret
		case len(words) == 1 && bareNames[w]:
			return strongSecret
		case weakWords[w]:
			found = weakSecret
		}
	}
	return found
}

// nameWords splits MY_API-key, db.password and clientSecret into lower-case words.
func nameWords(name string) []string {
	var words []string
	start := 0
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			cut(i)
			start = i + 1
		case isUpper(c) && i > start && (!isUpper(name[i-1]) || (i+1 < len(name) && isLower(name[i+1]))):
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return words
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
