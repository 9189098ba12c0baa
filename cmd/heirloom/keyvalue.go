package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// parsePairs reads K=V (JSON if it parses, else a string), K:=V (must be JSON), and with asText K=V as a
// string always. A key given twice keeps its last value. Errors: store.ErrInvalid naming the pair.
func parsePairs(pairs []string, asText bool) (*pyjson.Object, error) {
	object := &pyjson.Object{}
	for _, pair := range pairs {
		key, value, err := parsePair(pair, asText)
		if err != nil {
			return nil, err
		}
		object.Set(key, value)
	}
	return object, nil
}

func parsePair(pair string, asText bool) (string, any, error) {
	key, text, found := strings.Cut(pair, "=")
	if !found {
		return "", nil, malformed(pair, "has no =, write K=V or K:=JSON")
	}
	strict := false
	if bare, ok := strings.CutSuffix(key, ":"); ok && !asText {
		key, strict = bare, true
	}
	if err := checkName(key); err != nil {
		return "", nil, malformed(pair, "the key "+err.Error())
	}
	if !utf8.ValidString(text) {
		return "", nil, malformed(pair, "the value is not UTF-8")
	}
	if asText {
		return key, text, nil
	}
	value, err := pyjson.Unmarshal([]byte(text))
	if err == nil {
		return key, value, nil
	}
	if strict {
		return "", nil, malformed(pair, "the value after := is not JSON: "+err.Error())
	}
	return key, text, nil
}

// checkName refuses what no key of metadata should be.
func checkName(key string) error {
	switch {
	case strings.TrimSpace(key) == "":
		return fmt.Errorf("is empty")
	case !utf8.ValidString(key):
		return fmt.Errorf("is not UTF-8")
	case strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("has a control character")
	}
	return nil
}

func malformed(pair, why string) error {
	return invalidf("malformed %q: %s", store.Redact(pair), why)
}
