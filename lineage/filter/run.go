package filter

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Run shows a run, with all that was read of it, to filters and orders.
type Run struct{ *tracker.Run }

// Values yields the values of a field.
func (r Run) Values(f Field) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		switch f.Entity {
		case Attributes:
			if v, ok := r.attribute(f.Name); ok {
				yield(v)
			}
		case Artifacts:
			each(r.Artifacts, f.Name, artifactProperty, yield)
		case Parents:
			each(r.Sources, f.Name, parentProperty, yield)
		case Datasets:
			each(r.Sources, f.Name, datasetProperty, yield)
		default:
			if raw, ok := r.Metadata.Get(f.Key()); ok && raw != nil {
				yield(NewValue(raw))
			}
		}
	}
}

func each[T any](list []T, name string, property func(T, string) Value, yield func(Value) bool) {
	for _, item := range list {
		if v := property(item, name); v.Text != "" && !yield(v) {
			return
		}
	}
}

// attributeKeys are the attributes that are metadata under another name.
var attributeKeys = map[string]string{
	"user": tracker.KeyUser, "host": tracker.KeyHost, "project": tracker.KeyProject, "experiment": tracker.KeyExperiment,
	"output_dir": tracker.KeyOutputDir, "exit_code": tracker.KeyExitCode, "signal": tracker.KeySignal,
	"git_commit": tracker.KeyGitCommit, "git_branch": tracker.KeyGitBranch,
}

func (r Run) attribute(name string) (Value, bool) {
	switch name {
	case "id":
		return NewValue(string(r.ID)), true
	case "name":
		return NewValue(r.Name()), true
	case "state":
		return NewValue(string(r.State)), true
	case "started":
		return NewTime(r.Started), !r.Started.IsZero()
	case "ended":
		return NewTime(r.Ended), !r.Ended.IsZero()
	case "duration_seconds":
		return NewValue(r.Ended.Sub(r.Started).Seconds()), !r.Started.IsZero() && !r.Ended.IsZero()
	case "attempts":
		return NewValue(int64(len(r.Attempts))), len(r.Attempts) > 0
	case "command":
		line := r.Command()
		return NewValue(line), line != ""
	}
	raw, ok := r.Metadata.Get(attributeKeys[name])
	return NewValue(raw), ok && raw != nil
}

// Name is the recorded name, or that in the id.
func (r Run) Name() string {
	if name := r.Metadata.Text(tracker.KeyName); name != "" {
		return name
	}
	return r.ID.Name()
}

// Command is the recorded command, its words joined by spaces.
func (r Run) Command() string {
	raw, _ := r.Metadata.Get(tracker.KeyCommand)
	list, _ := raw.([]any)
	var words []string
	for _, w := range list {
		if s, ok := w.(string); ok {
			words = append(words, s)
		}
	}
	return strings.Join(words, " ")
}

func artifactProperty(a tracker.Artifact, name string) Value {
	switch name {
	case "name":
		return NewValue(a.Name)
	case "path":
		return NewValue(a.Path)
	case "kind":
		return NewValue(a.Kind())
	case "sha256":
		return NewValue(a.SHA256())
	case "size_bytes":
		if size, ok := a.SizeBytes(); ok {
			return NewValue(size)
		}
	}
	return Value{}
}

func parentProperty(s tracker.Source, name string) Value {
	switch name {
	case "id":
		return NewValue(string(s.ID))
	case "artifact":
		return NewValue(s.Artifact)
	case "role":
		return NewValue(string(s.Role))
	}
	return Value{}
}

func datasetProperty(s tracker.Source, name string) Value {
	if s.Name == "" {
		return Value{}
	}
	switch name {
	case "name":
		return NewValue(s.Name)
	case "version":
		return NewValue(s.Version)
	case "digest":
		return NewValue(s.Digest)
	case "uri":
		return NewValue(s.URI)
	}
	return Value{}
}

// NewValue is the value of a piece of metadata, of the types that package pyjson reads.
func NewValue(raw any) Value {
	if s, ok := raw.(string); ok {
		return readNumber(Value{Text: s})
	}
	return readNumber(Value{Text: string(pyjson.Valid(raw))})
}

// NewTime is the value of a time.
func NewTime(t time.Time) Value {
	return Value{Text: t.UTC().Format(time.RFC3339Nano), Number: float64(t.UnixNano()), IsNumber: true, Nanos: t.UnixNano()}
}

// readNumber tells whether a text reads as a finite number in decimal form.
func readNumber(v Value) Value {
	if isNumber(v.Text) {
		n, err := strconv.ParseFloat(v.Text, 64)
		v.Number, v.IsNumber = n, err == nil
	}
	return v
}
