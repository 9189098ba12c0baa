package render

import (
	"strings"

	"io"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Show prints one run with the names of its aliases in one of ListFormats: text for people; one JSON document, indented or (JSONL) on one line; or
// its metadata as CSV, a key and a value a line.
func Show(w io.Writer, r *tracker.Run, aliases []string, f Format, s Style) error {
	switch f {
	case Table:
		return showText(w, r, aliases, s)
	case JSON, JSONL:
		return Document(w, newShown(r, aliases), f)
	case CSV:
		return showCSV(w, r, s)
	}
	return unsupported(f, ListFormats)
}

// shown is a run in JSON; docs/json.md tells of each field.
type shown struct {
	ID        tracker.RunID   `json:"id"`
	Name      string          `json:"name"`
	State     tracker.State   `json:"state"`
	Started   stamp           `json:"started"`
	Ended     stamp           `json:"ended"`
	Metadata  *pyjson.Object  `json:"metadata"`
	Artifacts []shownArtifact `json:"artifacts"`
	Sources   []shownSource   `json:"sources"`
	Children  []tracker.RunID `json:"children"`
	Attempts  []shownAttempt  `json:"attempts"`
	Warnings  []shownWarning  `json:"warnings"`
	Aliases   []string        `json:"aliases"`
}

type shownArtifact struct {
	Name     string         `json:"name"`
	Path     string         `json:"path"`
	Metadata *pyjson.Object `json:"metadata"`
}

type shownSource struct {
	Run      tracker.RunID `json:"run"`
	Artifact *string       `json:"artifact"`
	Role     *string       `json:"role"`
	URI      *string       `json:"uri"`
	Name     *string       `json:"name"`
	Version  *string       `json:"version"`
	Digest   *string       `json:"digest"`
	Time     stamp         `json:"time"`
}

type shownAttempt struct {
	Number    int               `json:"number"`
	State     *string           `json:"state"`
	Started   stamp             `json:"started"`
	Ended     stamp             `json:"ended"`
	Beat      stamp             `json:"beat"`
	ExitCode  *int              `json:"exit_code"`
	Signal    *string           `json:"signal"`
	Command   []string          `json:"command"`
	Environ   map[string]string `json:"environ"`
	Dir       *string           `json:"dir"`
	Host      *string           `json:"host"`
	User      *string           `json:"user"`
	PID       *int              `json:"pid"`
	Scheduler *pyjson.Object    `json:"scheduler"`
}

type shownWarning struct {
	Key    store.Key `json:"key"`
	Reason string    `json:"reason"`
}

func newShown(r *tracker.Run, aliases []string) shown {
	doc := shown{
		ID: r.ID, Name: name(r), State: r.State, Started: stamp(r.Started), Ended: stamp(r.Ended), Metadata: r.Metadata,
		Artifacts: []shownArtifact{}, Sources: []shownSource{}, Children: append([]tracker.RunID{}, r.Children...),
		Attempts: []shownAttempt{}, Warnings: shownWarnings(r.Warnings),
		Aliases: append([]string{}, aliases...),
	}
	for _, a := range r.Artifacts {
		doc.Artifacts = append(doc.Artifacts, shownArtifact(a))
	}
	for _, src := range r.Sources {
		doc.Sources = append(doc.Sources, shownSource{
			Run: src.ID, Artifact: maybe(src.Artifact), Role: maybe(string(src.Role)), URI: maybe(src.URI),
			Name: maybe(src.Name), Version: maybe(src.Version), Digest: maybe(src.Digest), Time: stamp(src.Time),
		})
	}
	for i, a := range r.Attempts {
		doc.Attempts = append(doc.Attempts, newShownAttempt(r, a, i == len(r.Attempts)-1))
	}
	return doc
}

// newShownAttempt tells of one attempt. Its state is that of its end; without one it is known of the last alone.
func newShownAttempt(r *tracker.Run, a tracker.Attempt, last bool) shownAttempt {
	doc := shownAttempt{
		Number: a.Number, Started: stamp(a.Start.Time), Beat: stamp(a.Beat), Command: append([]string{}, a.Start.Command...),
		Environ: environMap(a.Start.Environ),
		Dir:     maybe(a.Start.Dir), Host: maybe(a.Start.Host), User: maybe(a.Start.User), Scheduler: a.Start.Scheduler,
	}
	if a.Start.PID != 0 {
		doc.PID = &a.Start.PID
	}
	switch {
	case a.End != nil:
		doc.State, doc.Ended = maybe(string(a.End.State)), stamp(a.End.Time)
		doc.ExitCode, doc.Signal = a.End.ExitCode, maybe(a.End.Signal)
	case last:
		doc.State = maybe(string(r.State))
	}
	return doc
}

func shownWarnings(list []tracker.Warning) []shownWarning {
	doc := []shownWarning{}
	for _, warning := range list {
		doc = append(doc, shownWarning{Key: warning.Key, Reason: warning.Reason})
	}
	return doc
}

// showCSV prints what a run is and all its metadata as keys and values.
func showCSV(w io.Writer, r *tracker.Run, s Style) error {
	l := List{Columns: []Column{{Name: "key"}, {Name: "value"}}, Rows: [][]any{
		{"id", r.ID}, {"name", name(r)}, {"state", r.State}, {"started", r.Started}, {"ended", r.Ended},
	}}
	for key, v := range r.Metadata.All() {
		l.Rows = append(l.Rows, []any{"metadata." + key, v})
	}
	return l.Write(w, CSV, s)
}

// since is a time and, when both are known, how long after start it was.
func since(start, end time.Time) any {
	if start.IsZero() || end.IsZero() {
		return end
	}
	return brief(end) + " (" + span(end.Sub(start)) + ")"
}

// environMap is an environment by name, empty if none was recorded.
func environMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		m[name] = value
	}
	return m
}
