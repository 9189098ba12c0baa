package tracker

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Artifact is something that a run made.
type Artifact struct {
	Name string // unique in the run; not empty, no control characters or surrounding space
	Path string // a full URL, or whatever the writer called it
	// Metadata is nil for TorchX's null, which is not the same as empty.
	Metadata *Metadata
}

// Key is where the bytes lie, relative to the store that holds the tracker's
// root, or "". It is tried before Path, so that a copied store works.
func (a Artifact) Key() string { return a.Metadata.Text(KeyKey) }

// SizeBytes is the size, if it was recorded.
func (a Artifact) SizeBytes() (int64, bool) {
	v, _ := a.Metadata.Get(KeySizeBytes)
	n, ok := v.(int64)
	return n, ok && n >= 0
}

// SHA256 is the checksum of the bytes in hexadecimal, or "".
func (a Artifact) SHA256() string { return a.Metadata.Text(KeySHA256) }

// Kind is one of KindModel and its like, KindOther if it was not recorded.
func (a Artifact) Kind() string {
	if kind := a.Metadata.Text(KeyKind); kind != "" {
		return kind
	}
	return KindOther
}

// maxArtifactBytes bounds the name of an artifact; on a link it is maxIDBytes.
const maxArtifactBytes = 1024

// checkArtifactName holds for what heirloom writes: TorchX's text files lose
// line ends and surrounding space. Readers take any name.
func checkArtifactName(name string, most int) error {
	err := checkText(name, most)
	if err == nil && strings.TrimSpace(name) != name {
		err = errors.New("it begins or ends in space")
	}
	if err != nil {
		return &store.Error{Op: "check artifact name", Key: printable(name), Kind: store.ErrInvalid, Err: err}
	}
	return nil
}

func (a Artifact) body() ([]byte, error) {
	var meta any
	if a.Metadata != nil {
		meta = a.Metadata
	}
	return pyjson.Marshal(pyjson.NewObject(
		pyjson.Member{Key: "name", Value: a.Name},
		pyjson.Member{Key: "path", Value: a.Path},
		pyjson.Member{Key: "metadata", Value: meta}))
}

// parseArtifact reads a record as TorchX does, which takes Python's str() of
// name and path.
func parseArtifact(body []byte) (Artifact, error) {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return Artifact{}, err
	}
	var a Artifact
	if a.Name, err = textOf(o, "name"); err != nil {
		return Artifact{}, err
	}
	if a.Path, err = textOf(o, "path"); err != nil {
		return Artifact{}, err
	}
	switch meta, _ := o.Get("metadata"); meta := meta.(type) {
	case nil:
	case *Metadata:
		a.Metadata = meta
	default:
		return Artifact{}, errors.New(`"metadata" is neither an object nor null`)
	}
	return a, nil
}

// textOf is Python's str() of a scalar.
func textOf(o *pyjson.Object, key string) (string, error) {
	v, ok := o.Get(key)
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case int64, *big.Int:
		return fmt.Sprint(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+")), nil
		}
		text, err := pyjson.Marshal(v)
		return string(text), err
	case nil:
		if ok {
			return "None", nil
		}
		return "", fmt.Errorf("no %q", key)
	}
	return "", fmt.Errorf("%q is not text", key)
}

// redactPlace takes the secrets out of a URL that can hold any, which is one
// with a user, a query or a fragment, or one of the web, and out of the name of a
// connection, "host=db password=x". Other paths stay as they are, since they are
// looked up again: a directory may well be called token=3.
func redactPlace(place string) string {
	scheme, rest, isURL := strings.Cut(place, "://")
	switch {
	case isURL && (strings.ContainsAny(rest, "?@#") || strings.HasPrefix(scheme, "http")):
	case !isURL && !strings.HasPrefix(place, "/") && strings.ContainsAny(place, " ;@") && strings.ContainsAny(place, "=@"):
	default:
		return place
	}
	return store.RedactURL(place)
}
