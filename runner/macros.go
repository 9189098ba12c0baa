package runner

import (
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The macros, as they are written in args, values of env and metadata of a role.
const (
	MacroImgRoot   = "${img_root}"
	MacroAppID     = "${app_id}"
	MacroReplicaID = "${replica_id}"
	MacroRank0Env  = "${rank0_env}"
)

// Macros are the values that replace the macros, for one replica.
type Macros struct {
	ImgRoot   string // directory of the image, or working directory
	AppID     string // Handle.App
	ReplicaID string // from 0 in each role
	Rank0Env  string // name of the variable that holds the host of the first replica
}

// macroPattern is that of Python's string.Template: $$, $name, ${name}.
var macroPattern = pattern.Lazy(`\$(?:\$|[_a-zA-Z][_a-zA-Z0-9]*|\{[_a-zA-Z][_a-zA-Z0-9]*\})`)

// Substitute replaces the macros in s as Python's Template.safe_substitute does:
// $app_id is one too, $$ becomes $, and what is none stays as it is.
func (m Macros) Substitute(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return macroPattern().ReplaceAllStringFunc(s, func(found string) string {
		switch strings.Trim(found[1:], "{}") {
		case "$":
			return "$"
		case "img_root":
			return m.ImgRoot
		case "app_id":
			return m.AppID
		case "replica_id":
			return m.ReplicaID
		case "rank0_env":
			return m.Rank0Env
		}
		return found
	})
}

// EscapeMacros is s so that Substitute gives s again.
func EscapeMacros(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// Apply returns a copy of the role with the macros replaced in args, values of env
// and the strings of its metadata, however deep.
func (m Macros) Apply(role Role) Role {
	role = role.Clone()
	for i, arg := range role.Args {
		role.Args[i] = m.Substitute(arg)
	}
	for name, value := range role.Env {
		role.Env[name] = m.Substitute(value)
	}
	if role.Metadata != nil {
		role.Metadata = mapStrings(role.Metadata, m.Substitute).(*tracker.Metadata)
	}
	return role
}

// mapStrings copies a value of metadata, its strings changed.
func mapStrings(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = mapStrings(item, change)
		}
		return list
	case *tracker.Metadata:
		o := &tracker.Metadata{}
		for key, item := range v.All() {
			o.Set(key, mapStrings(item, change))
		}
		return o
	}
	return v
}
