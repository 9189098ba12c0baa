package tracker

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const revoke = ": revoke it, then remove the record"

// checkSecrets looks for what should not have been recorded. It names the place
// and never the value.
func (f *fsck) checkSecrets(l *listing, b bodies) {
	if !f.opts.Secrets {
		return
	}
	f.checkSecretNames(l)
	keys := slices.Concat(l.allKeys(), f.mirrors(l), l.others)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		v, err := pyjson.Unmarshal(b[key].data)
		if b[key].err != nil {
			continue
		}
		if err != nil { // a text file, or damaged
			v = string(b[key].data)
		}
		for _, member := range secretsIn("", v) {
			where := "holds a secret"
			if member != "" {
				where = fmt.Sprintf("holds a secret under %q", store.Redact(member))
			}
			f.found(RuleSecret, l.id, key, where+revoke, "", nil)
		}
	}
}

// checkSecretNames looks at the ids and names that became names of objects.
func (f *fsck) checkSecretNames(l *listing) {
	if hasSecret(string(l.id)) {
		f.found(RuleSecret, l.id, l.id.dir(), "the id of this run holds a secret"+revoke+"s", "", nil)
	}
	for _, id := range slices.SortedFunc(maps.Keys(l.sources), compareIDs) {
		if hasSecret(string(id)) {
			f.found(RuleSecret, l.id, l.sources[id], "the id of this source holds a secret"+revoke, "", nil)
		}
	}
	for link, o := range l.links {
		if hasSecret(string(link.source)) || hasSecret(link.artifact) {
			f.found(RuleSecret, l.id, o.key, "the name of this link holds a secret"+revoke, "", nil)
		}
	}
}

func hasSecret(text string) bool { return store.Redact(text) != text }

// secretsIn are the paths of the values below v that hold secrets.
func secretsIn(path string, v any) []string {
	var found []string
	switch v := v.(type) {
	case *Metadata:
		for key, value := range v.All() {
			below := key
			if path != "" {
				below = path + "." + key
			}
			if text, ok := scalar(value); ok && (hasSecret(key+"="+text) || hasSecret(below+"="+text)) {
				found = append(found, below)
				continue
			}
			found = append(found, secretsIn(below, value)...)
		}
	case []any:
		if list, ok := textsOf(v); ok {
			if !slices.Equal(store.RedactArgs(list), list) {
				found = append(found, path)
			}
			return found
		}
		for _, item := range v {
			found = append(found, secretsIn(path, item)...)
		}
	case string:
		if hasSecret(v) {
			found = append(found, path)
		}
	}
	return found
}

// scalar is v as text, if it can be a password.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, float64, *big.Int:
		return fmt.Sprint(v), true
	}
	return "", false
}

// textsOf is a list of strings alone.
func textsOf(list []any) ([]string, bool) {
	texts := make([]string, len(list))
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		texts[i] = text
	}
	return texts, true
}
