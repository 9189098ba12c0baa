package tracker

import (
	"fmt"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// checkSecrets looks for what should not have been recorded. It names the place
// and never the value.
func (f *fsck) checkSecrets(l *listing, b bodies) {
	if !f.opts.Secrets {
		return
	}
	for _, key := range l.allKeys() {
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
			f.found(RuleSecret, l.id, key, where+": revoke it, then remove the record", "", nil)
		}
	}
}

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
			if text, ok := value.(string); ok && store.Redact(key+"="+text) != key+"="+text {
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
		if store.Redact(v) != v {
			found = append(found, path)
		}
	}
	return found
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
