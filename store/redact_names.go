package store

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// Words that make a name that of a secret. weakWords mean other things too, so that in prose, "auth: denied", they
// take nothing with them.
var (
	strongWords = wordSet("password passwords passwd passphrase pwd secret secrets token apikey apikeys accesskey secretkey privatekey credential credentials authtoken")
	weakWords   = wordSet("pass auth authorization bearer cookie cookies session sessionid sas signature private dsn connstr connectionstring")
	strongPairs = wordSet("api key|api keys|access key|access keys|private key|secret key|account key|storage key|encryption key|signing key|" +
		"shared key|ssh key|master key|auth key|client key|subscription key|conn str|connection str|connection string|access id|" +
		"deploy key|sa key|hmac key|aes key|gpg key|license key|webhook url|openai key|anthropic key|azure key|gcp key|aws key|hf key|wandb key|comet key")
	strongEnds = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "credential", "credentials"}
	bareNames  = wordSet("sig jwt pat googleaccessid awsaccesskeyid")
	// plainEnds turn the name of a secret into that of something about it.
	plainEnds = wordSet("file path dir directory name type url uri endpoint host port count length len size limit budget ttl timeout expiry mode " +
		"stdin prompt helper manager arn scope ref env var def defs format version provider backend method policy")
	// plainStarts and plainFollows do so for tokens of text.
	plainStarts = wordSet("eos bos pad unk sep cls mask special image start end stop next per num max min first last " +
		"visual patch latent register class prefix soft virtual learnable byte chunk context total batch mean avg n sub text")
	plainFollows = wordSet("type types level dropout drop dim dims embedding embeddings embed emb mask masks masking merging merge pooling mixing mixer shift " +
		"reduction label labels classification ratio noise prob loss weight weights rate per window index idx ids position positions order accuracy norm")
	// plainPairs mean something else where the first word by itself would not.
	plainPairs = wordSet("signature key|session config|pass rate|pass threshold|pass at|private data|private dataset|private network|auth server")
	// workingDirs look like the names of secrets, and are none if a path is behind them.
	workingDirs = wordSet("PWD OLDPWD")
	// smallNumber is what settings are, and no secret is.
	smallNumber = pattern.Lazy(`^[+-]?[0-9]{0,5}(\.[0-9]{0,6})?([eE][+-]?[0-9]{1,3})?$`)
	// reference stands for the value of a variable, which the shell or the program puts in its place.
	reference = pattern.Lazy(`^(\$[A-Z][A-Z0-9_]+|\$\{[A-Z][A-Z0-9_]+\})$`)
	aPath     = pattern.Lazy(`^([/~.$]|[A-Za-z]:[/\\])`)
)

// wordSet reports whether a text is one of some words, which stand between blanks or, where there are any, between bars.
func wordSet(words string) func(string) bool {
	set := sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		split := unicode.IsSpace
		if strings.Contains(words, "|") {
			split = func(r rune) bool { return r == '|' }
		}
		for _, w := range strings.FieldsFunc(words, split) {
			set[w] = true
		}
		return set
	})
	return func(text string) bool { return set()[text] }
}

// endsStrongly says whether a word ends like the name of a secret, such as dbpassword.
func endsStrongly(word string) bool {
	return slices.ContainsFunc(strongEnds, func(end string) bool { return strings.HasSuffix(word, end) })
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
	return nameSecrecy(name) != notSecret && !isPlainValue(name, value)
}

// isPlainValue says whether what is assigned to the name of a secret is no secret all the same.
func isPlainValue(name, value string) bool {
	switch {
	case isFlagValue(value), reference().MatchString(value):
		return true
	case workingDirs(name):
		return aPath().MatchString(value)
	}
	return nameSecrecy(name) == weakSecret && smallNumber().MatchString(value)
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
	if len(name) > 1 && name[0] == 'D' && isLower(name[1]) { // a property of Java: -Dname=value
		return max(wordsSecrecy(nameWords(name)), wordsSecrecy(nameWords(name[1:])))
	}
	return wordsSecrecy(nameWords(name))
}

func wordsSecrecy(words []string) secrecy {
	if len(words) == 0 || (len(words) > 1 && plainEnds(words[len(words)-1])) {
		return notSecret
	}
	found := notSecret
	for i, w := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case w == "token" && (plainStarts(before) || plainFollows(after)), plainPairs(w + " " + after):
		case strongWords(w), endsStrongly(w), strongPairs(before + " " + w), len(words) == 1 && bareNames(w):
			return strongSecret
		case weakWords(w):
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
