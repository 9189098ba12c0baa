package lineage

import (
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Kind says what a node stands for.
type Kind string

// The kinds of node.
const (
	KindRun      Kind = "run"      // something that ran, recorded in this root or (Missing) named as a source only
	KindArtifact Kind = "artifact" // one artifact of a node: only the root of a Subgraph that asked for it
	KindDataset  Kind = "dataset"  // an input known by a name, mostly name@version
	KindExternal Kind = "external" // any other input: a URI, a file, a foreign system's id
	KindContent  Kind = "content"  // bytes by their SHA-256, whatever they are called: only where one was asked about
)

// Node is one thing in the graph. Fields that do not apply to its kind are empty.
type Node struct {
	ID   string // the run id, the input's id, or OWNER#ARTIFACT; unique in a graph
	Kind Kind
	// Missing: a run or artifact that others used but of which the root has no record. It may have been deleted, or
	// recorded elsewhere.
	Missing bool
	Deleted bool // a missing run that is on record as deleted; known where somebody has asked

	// Aliases are the names of a run, of its artifacts or of an artifact, sorted; nil where nobody has asked.
	Aliases []string

	// Run is what the root records of a run, or of the run that owns an artifact. It is nil until Subgraph.Attach, and
	// for inputs and missing runs ever after.
	Run *tracker.Run

	// Owner and Artifact split the ID of an artifact node.
	Owner    string
	Artifact string

	// What the links tell of an input.
	URI     string
	Name    string
	Version string
	Digest  string
}

// shownDigits is how many digits of a digest its short form has, as many as git's.
const shownDigits = 12

// Label is the short form of ID for people: the last part of a run id, the name@version or URI of an input whose id is
// a digest, the beginning of the digest of a content. Two nodes may share a label.
func (n *Node) Label() string {
	switch {
	case n.Kind == KindRun:
		return tracker.RunID(n.ID).Name()
	case n.Kind == KindArtifact:
		return tracker.RunID(n.Owner).Name() + "#" + n.Artifact
	case n.Kind == KindContent:
		return n.ID[:min(len(n.ID), len(digestPrefix)+shownDigits)]
	case n.Name != "" && n.Version != "":
		return n.Name + "@" + n.Version
	case n.Name != "":
		return n.Name
	case n.URI != "":
		return n.URI
	}
	return n.ID
}

// describe takes over what a link tells of the input it names; what is known already stays.
func (n *Node) describe(s tracker.Source) {
	keep := func(have *string, got string) {
		if *have == "" {
			*have = got
		}
	}
	keep(&n.URI, s.URI)
	keep(&n.Name, s.Name)
	keep(&n.Version, s.Version)
	keep(&n.Digest, s.Digest)
}

// classify finds the kind of a source without records in the root, from the roles in which it was used.
func (n *Node) classify(roles map[tracker.Role]bool) {
	n.Kind = KindOf(n.ID, roles[tracker.RoleParent] || roles[tracker.RoleRerun], roles[tracker.RoleInput], n.Name != "")
	n.Missing = n.Kind == KindRun
}

// KindOf is the kind of a source without records in the root: whether some run says that it launched or was the model of
// it, whether some used it as an input, and whether one knew it by a name. TorchX writes no roles: there the form of the
// id decides.
func KindOf(id string, parent, input, named bool) Kind {
	switch {
	case parent, !input && !named && IsHandle(id):
		return KindRun
	case named || isNameVersion(id):
		return KindDataset
	}
	return KindExternal
}

// storageSchemes begin the URIs of data. A run id, scheduler://session/name, has the same shape but no such scheme.
var storageSchemes = map[string]bool{
	"file": true, "mem": true, "s3": true, "s3a": true, "s3n": true, "gs": true, "hdfs": true, "dbfs": true,
	"http": true, "https": true, "ftp": true, "abfs": true, "abfss": true, "wasb": true, "wasbs": true, "az": true,
}

// IsHandle reports whether id has the form scheduler://session/name, as in TorchX's app handles.
func IsHandle(id string) bool {
	scheme, rest, ok := strings.Cut(id, "://")
	slash := strings.LastIndexByte(rest, '/')
	return ok && scheme != "" && slash >= 0 && slash < len(rest)-1 && !storageSchemes[strings.ToLower(scheme)]
}

// isNameVersion reports whether id reads name@version and is no URI or path.
func isNameVersion(id string) bool {
	name, version, ok := strings.Cut(id, "@")
	return ok && name != "" && version != "" && !strings.ContainsAny(name, ":/")
}
