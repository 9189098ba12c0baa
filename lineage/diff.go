package lineage

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Diff is how two runs differ. Each part lists only what does, by name.
type Diff struct {
	A, B        tracker.RunID
	Params      []Change // metadata that begins with params., without that; so the next two
	Metrics     []Change
	Tags        []Change
	Metadata    []Change // all other metadata of the user's
	Artifacts   []Change // values are digests, or sizes where none was recorded
	Code        []Change // command, directory, git, workspaces
	Environment []Change // variables, host, user, heirloom, scheduler of the last attempt
	Inputs      []Change // values are what was used under that name
	// Ancestors are where the two ancestries part: see Diverging.
	Ancestors []Parting
}

// Change is one name whose values differ.
type Change struct {
	Name string
	// A and B are what package pyjson reads. Where the run has no such name, the Has is false.
	A, B       any
	HasA, HasB bool
	// Also is another name, in the other run, of the same bytes: of artifacts and inputs that one run alone has.
	Also string
}

// Empty reports whether the runs agree in everything that is compared. Their metadata of times and places are not.
func (d *Diff) Empty() bool {
	n := len(d.Ancestors)
	for _, part := range d.Parts() {
		n += len(part.Changes)
	}
	return n == 0
}

// Part is one kind of difference.
type Part struct {
	Name    string // params, metrics, tags, metadata, artifacts, code, environment or inputs
	Changes []Change
}

// Parts lists all kinds in a fixed order, also those without a difference.
func (d *Diff) Parts() []Part {
	return []Part{
		{"params", d.Params}, {"metrics", d.Metrics}, {"tags", d.Tags}, {"metadata", d.Metadata}, {"artifacts", d.Artifacts},
		{"code", d.Code}, {"environment", d.Environment}, {"inputs", d.Inputs},
	}
}

// DiffRuns compares what two runs recorded. Ancestors is left empty.
func DiffRuns(a, b *tracker.Run) *Diff {
	x, y := newFactSheet(a), newFactSheet(b)
	return &Diff{
		A: a.ID, B: b.ID,
		Params: changes(x.params, y.params), Metrics: changes(x.metrics, y.metrics), Tags: changes(x.tags, y.tags),
		Metadata: changes(x.metadata, y.metadata), Artifacts: sameUnderOtherNames(changes(x.artifacts, y.artifacts), x.artifacts, y.artifacts),
		Code: changes(x.code, y.code), Environment: changes(x.environment, y.environment),
		Inputs: sameUnderOtherNames(changes(x.inputs, y.inputs), x.inputs, y.inputs),
	}
}

// factSheet is what is compared of a run.
type factSheet struct {
	params, metrics, tags, metadata, artifacts, code, environment, inputs *pyjson.Object
}

// codeKeys are the metadata that tell which program ran. That of workspaces is written by package runner.
func codeKeys() []string {
	return []string{
		tracker.KeyCommand, tracker.KeyDir, tracker.KeyGitCommit, tracker.KeyGitBranch, tracker.KeyGitRemote, tracker.KeyGitDirty,
		"heirloom.workspaces",
	}
}

// environmentKeys are the metadata that tell where it ran.
func environmentKeys() []string {
	return []string{tracker.KeyUser, tracker.KeyHost, tracker.KeyVersion, tracker.KeyProject, tracker.KeyExperiment}
}

// ownPrefix begins the metadata that heirloom writes; what is neither code nor environment says when, where and how a
// run ended, which differs always and tells nothing.
const ownPrefix = "heirloom."

func newFactSheet(run *tracker.Run) factSheet {
	f := factSheet{
		params: &pyjson.Object{}, metrics: &pyjson.Object{}, tags: &pyjson.Object{}, metadata: &pyjson.Object{},
		artifacts: &pyjson.Object{}, code: &pyjson.Object{}, environment: &pyjson.Object{}, inputs: inputsOf(run),
	}
	for key, value := range run.Metadata.All() {
		if value != nil { // null has no value
			f.take(key, value)
		}
	}
	if n := len(run.Attempts); n > 0 {
		f.takeAttempt(run.Attempts[n-1])
	}
	for _, a := range run.Artifacts {
		f.artifacts.Set(a.Name, bytesOf(a))
	}
	return f
}

// take puts a piece of metadata where it belongs.
func (f factSheet) take(key string, value any) {
	for _, group := range []struct {
		prefix string
		in     *pyjson.Object
	}{{tracker.PrefixParams, f.params}, {tracker.PrefixMetrics, f.metrics}, {tracker.PrefixTags, f.tags}} {
		if name, ok := strings.CutPrefix(key, group.prefix); ok && name != "" {
			group.in.Set(name, value)
			return
		}
	}
	name := strings.TrimPrefix(key, ownPrefix)
	switch {
	case slices.Contains(codeKeys(), key):
		f.code.Set(name, value)
	case slices.Contains(environmentKeys(), key):
		f.environment.Set(name, value)
	case name == key:
		f.metadata.Set(key, value)
	}
}

func (f factSheet) takeAttempt(a tracker.Attempt) {
	for _, entry := range a.Start.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			f.environment.Set("env."+name, value)
		}
	}
	for key, value := range a.Start.Scheduler.All() {
		f.environment.Set("scheduler."+key, value)
	}
}

// changes compares two sets of values, in order of name. Values are equal if their JSON is.
func changes(a, b *pyjson.Object) []Change {
	names := append(a.Keys(), b.Keys()...)
	slices.Sort(names)
	var list []Change
	for _, name := range slices.Compact(names) {
		c := Change{Name: name}
		c.A, c.HasA = a.Get(name)
		c.B, c.HasB = b.Get(name)
		if c.HasA != c.HasB || !bytes.Equal(pyjson.Valid(c.A), pyjson.Valid(c.B)) {
			list = append(list, c)
		}
	}
	return list
}

// sameUnderOtherNames notes of what one run alone has what the other calls the same bytes.
func sameUnderOtherNames(list []Change, a, b *pyjson.Object) []Change {
	for i, c := range list {
		value, other := c.A, b
		if !c.HasA {
			value, other = c.B, a
		}
		if digest, ok := value.(string); ok && c.HasA != c.HasB && strings.HasPrefix(digest, digestPrefix) {
			list[i].Also = nameOf(digest, other)
		}
	}
	return list
}

func nameOf(digest string, in *pyjson.Object) string {
	for name, value := range in.All() {
		if value == digest {
			return name
		}
	}
	return ""
}

// treeDigest is the key under which package runner records the digest of a directory.
const treeDigest = "heirloom.tree_sha256"

// bytesOf is what tells the bytes of an artifact from others: their digest, else their size, else where they lie.
func bytesOf(a tracker.Artifact) any {
	if sum := a.SHA256(); sum != "" {
		return digestPrefix + sum
	}
	if sum := a.Metadata.Text(treeDigest); sum != "" {
		return "tree:" + sum
	}
	if size, ok := a.SizeBytes(); ok {
		return size
	}
	return a.Path
}

// inputsOf gives what a run used by a name that another run of the same kind would use too: of a dataset its name
// without the version, of a run its name without the random end, with the artifact.
func inputsOf(run *tracker.Run) *pyjson.Object {
	list := map[string][]any{}
	for _, s := range run.Sources {
		used := string(s.ID)
		if s.Artifact != "" {
			used = artifactID(used, s.Artifact)
		}
		if d, ok := ReadDigest(s.Digest); ok && s.Name == "" {
			used = ContentID(d)
		}
		list[role(s)] = append(list[role(s)], used)
	}
	named := &pyjson.Object{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		var used any = list[name]
		if len(list[name]) == 1 {
			used = list[name][0]
		}
		named.Set(name, used)
	}
	return named
}

// role is the name of a source without what makes it one of several.
func role(s tracker.Source) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.URI != "":
		return s.URI
	case s.Artifact != "":
		return artifactID(withoutEnd(s.ID.Name()), s.Artifact)
	case isNameVersion(string(s.ID)):
		name, _, _ := strings.Cut(string(s.ID), "@")
		return name
	}
	return withoutEnd(s.ID.Name())
}

// withoutEnd drops the random end of the name of a run: what follows the last dash, unless that is all.
func withoutEnd(name string) string {
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		return name[:at]
	}
	return name
}
