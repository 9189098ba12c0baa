package tracker

import (
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// recordedEnviron is what of an environment is written: the variables of a short
// list that say under which conditions a job ran, by name, secrets redacted.
func recordedEnviron(environ []string) *Metadata {
	m := &Metadata{}
	for _, entry := range store.RedactEnv(environ) {
		name, value, _ := strings.Cut(entry, "=")
		m.Set(name, strings.ToValidUTF8(value, "\ufffd"))
	}
	return m
}

// environList turns what was recorded back into "NAME=value", sorted. Values
// that are not text are passed over.
func environList(v any) []string {
	m, ok := v.(*Metadata)
	if !ok {
		return nil
	}
	var list []string
	for name, value := range m.All() {
		if text, ok := value.(string); ok {
			list = append(list, name+"="+text)
		}
	}
	slices.Sort(list)
	return list
}
