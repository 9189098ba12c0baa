package tracker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Role says what a source was to the run.
type Role string

// The roles. The empty one is a run whose artifact was used, as TorchX records.
const (
	RoleInput  Role = "input"  // a dataset, file or URI that is no run
	RoleParent Role = "parent" // the run that launched this one
	RoleRerun  Role = "rerun"  // the run that this one does once more
)

// Source is one thing that a run used: an edge, seen from its end. Two edges
// with the same ID and Artifact are one; the first to be written stands.
type Source struct {
	ID       RunID  // a run, tracked or not, or the id of an input
	Artifact string // "" = none named; else 1 to 155 bytes, no control characters or surrounding space
	Role     Role
	// What is known of an input; "" where it is not.
	URI, Name, Version, Digest string
	// Time is when the edge was recorded, zero if only TorchX did. AddSource
	// fills it in.
	Time time.Time
}

// NewInput makes the source for an input that is no run, of what is known about
// it: the id is Name@Version, or Name alone, or else the URI in its canonical
// form (relative paths are taken from workdir), and sha256:<hex> of that where
// it exceeds 155 bytes. Secrets in the URI are dropped or redacted first.
// ID and Role of what is given are replaced. The error has kind
// store.ErrInvalid.
func NewInput(s Source, workdir string) (Source, error) {
	if s.URI != "" {
		uri, err := store.CanonicalURI(s.URI, workdir)
		if err != nil {
			return Source{}, err
		}
		s.URI = redactPlace(uri)
	}
	s.Name, s.Version = store.Redact(s.Name), store.Redact(s.Version)
	id, err := inputID(s)
	if err != nil {
		return Source{}, &store.Error{Op: "name input", Key: printable(s.Name + s.URI), Kind: store.ErrInvalid, Err: err}
	}
	s.ID, s.Role = id, RoleInput
	return s, nil
}

// redacted is s without secrets, the same for the same s, since it is an
// identity. The id of a run is left alone unless it is a URL.
func (s Source) redacted() Source {
	s.URI, s.Artifact = redactPlace(s.URI), redactPlace(s.Artifact)
	s.ID = RunID(redactPlace(string(s.ID)))
	if s.Role == RoleInput {
		s.ID = RunID(store.Redact(string(s.ID)))
		s.Name, s.Version = store.Redact(s.Name), store.Redact(s.Version)
	}
	return s
}

const maxInputBytes = 64 << 10 // of a name or URI; more is a mistake

func inputID(s Source) (RunID, error) {
	name := s.URI
	if s.Name != "" {
		name = s.Name
		if s.Version != "" {
			name += "@" + s.Version
		}
	}
	if name == "" {
		return "", errors.New("an input needs a name or a URI")
	}
	if err := checkText(name, maxInputBytes); err != nil {
		return "", err
	}
	if len(name) > maxIDBytes {
		sum := sha256.Sum256([]byte(name))
		name = "sha256:" + hex.EncodeToString(sum[:])
	}
	return RunID(name), nil
}

func (s Source) check() error {
	if _, err := ParseRunID(string(s.ID)); err != nil {
		return err
	}
	if s.Artifact == "" {
		return nil
	}
	return checkArtifactName(s.Artifact, maxIDBytes)
}

// link is the body of the edge's object.
func (s Source) link() ([]byte, error) {
	o := pyjson.NewObject(pyjson.Member{Key: "time", Value: formatTime(s.Time)})
	for _, m := range []struct{ key, value string }{
		{"role", string(s.Role)}, {"uri", s.URI}, {"name", s.Name}, {"version", s.Version}, {"digest", s.Digest},
	} {
		if m.value != "" {
			o.Set(m.key, m.value)
		}
	}
	return pyjson.Marshal(o)
}

// bareLinkBytes is the size of a link that says nothing but its time. Who only
// wants the edge need not read it.
const bareLinkBytes = len(`{"time": ""}`) + len(timeLayout)

func (s *Source) readLink(body []byte) error {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return err
	}
	s.Time = parseTime(o.Text("time"))
	if s.Time.IsZero() {
		return errors.New(`"time" is not a time`)
	}
	s.Role = Role(o.Text("role"))
	s.URI, s.Name, s.Version, s.Digest = o.Text("uri"), o.Text("name"), o.Text("version"), o.Text("digest")
	return nil
}

func sortSources(list []Source) {
	slices.SortFunc(list, func(a, b Source) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Artifact, b.Artifact))
	})
}
