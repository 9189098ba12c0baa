package lineage

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Fit is a way in which a text may name a node.
type Fit int

// The ways, in the order in which a Resolver tries them.
const (
	FitID        Fit = iota // it is the whole id of a run or an input
	FitPlace                // it is the URI or name@version of an input, or the path of an artifact
	FitName                 // it is the last part of the id of a run
	FitBeginning            // it begins that part
	FitRun                  // it is anywhere in the id of a run
	FitInput                // it is anywhere in the id of an input
	FitDescribed            // it is anywhere in the name@version or URI of an input
	FitDigest               // it begins the SHA-256 of an artifact or input, in lower-case hexadecimal digits
)

// Names is where a Resolver looks texts up: a Graph, or an index of many runs.
type Names interface {
	// Find lists the nodes that a text fits in one way, sorted, each once: an artifact as RUN#ARTIFACT, and for
	// FitDigest what ContentNodes makes of all that fits. None is no error.
	Find(ctx context.Context, fit Fit, text string) ([]string, error)
	// Similar lists a few names that differ from a text by few letters, the nearest first. known is false where there are
	// no names at all.
	Similar(ctx context.Context, text string) (near []string, known bool, err error)
}

// Resolver turns what a person typed into the id of a node. It understands, in this order:
//
//	@alias, or @alias#ARTIFACT
//	a full id of a run or an input
//	a URI or path of an input or artifact, in any spelling that store.CanonicalURI knows; name@version of an input
//	sha256: with at least eight digits of a digest that no other has
//	NODE#ARTIFACT, with any of these forms for NODE
//	the last part of a run id, else the beginning of that, else any part of the id, that no other run has; else so of inputs
//	bare digits of a digest, at least eight, that no other has
//
// It is safe for concurrent use if what it asks is.
type Resolver struct {
	Names Names
	// Alias tells the id that an alias means, without its "@"; none is store.ErrNotExist. Nil = there are no aliases.
	Alias func(ctx context.Context, name string) (string, error)
	// Workdir is where relative paths of files lie; "" = no relative path is understood.
	Workdir string
}

// Resolve returns the id of the node that text names. Whether a run has such an artifact is seen only when its records
// are read: see Subgraph.Attach. A digest that several names have resolves to their content: see ContentID.
// An unknown text is an error of kind store.ErrNotExist that names what is near; one that could be several nodes is a
// *tracker.AmbiguousError; an empty one has kind store.ErrInvalid.
func (r *Resolver) Resolve(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", &store.Error{Op: "find", Kind: store.ErrInvalid, Err: errors.New("the name of a node is empty")}
	}
	if name, ok := strings.CutPrefix(text, "@"); ok && name != "" && r.Alias != nil {
		return r.alias(ctx, name)
	}
	for _, understood := range []func(context.Context, string) (string, error){r.exact, r.part} {
		if id, err := understood(ctx, text); id != "" || err != nil {
			return id, err
		}
		for owner, artifact := range splitArtifact(text) {
			id, err := understood(ctx, owner)
			if err != nil {
				return "", err
			}
			if id != "" {
				return artifactID(id, artifact), nil
			}
		}
	}
	return "", r.nothing(ctx, text)
}

// alias resolves @name and @name#artifact; names of aliases hold no "#".
func (r *Resolver) alias(ctx context.Context, text string) (string, error) {
	name, artifact, split := strings.Cut(text, "#")
	id, err := r.Alias(ctx, name)
	switch {
	case err != nil || !split:
		return id, err
	case artifact == "":
		return "", &store.Error{Op: "find", Key: "@" + text, Kind: store.ErrInvalid, Err: errors.New("the name of the artifact is empty")}
	}
	return artifactID(id, artifact), nil
}

// exact finds the node that text names in full, "" if there is none.
func (r *Resolver) exact(ctx context.Context, text string) (string, error) {
	uri := r.canonical(text)
	for _, try := range []struct {
		fit  Fit
		text string
	}{{FitID, text}, {FitID, uri}, {FitPlace, text}, {FitPlace, uri}} {
		if id, err := r.only(ctx, try.fit, try.text, text); id != "" || err != nil {
			return id, err
		}
	}
	if digits, ok := strings.CutPrefix(strings.ToLower(text), digestPrefix); ok {
		return r.digest(ctx, digits, text)
	}
	return "", nil
}

// canonical is text as a URI in canonical form, or as it is if it is none.
func (r *Resolver) canonical(text string) string {
	if r.Workdir == "" && !isAbsolute(text) {
		return text
	}
	uri, err := store.CanonicalURI(text, r.Workdir)
	if err != nil {
		return text
	}
	return uri
}

// part finds the node of which text is a part that no other has, "" if there is none.
func (r *Resolver) part(ctx context.Context, text string) (string, error) {
	for _, fit := range []Fit{FitName, FitBeginning, FitRun, FitInput, FitDescribed} {
		if id, err := r.only(ctx, fit, text, text); id != "" || err != nil {
			return id, err
		}
	}
	return r.digest(ctx, strings.ToLower(text), text)
}

// digest finds what a few digits begin the SHA-256 of.
func (r *Resolver) digest(ctx context.Context, digits, text string) (string, error) {
	if len(digits) < leastDigits || len(digits) > maxDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", nil
	}
	return r.only(ctx, FitDigest, digits, text)
}

// only finds the one node that fits, "" if there is none.
func (r *Resolver) only(ctx context.Context, fit Fit, text, typed string) (string, error) {
	ids, err := r.Names.Find(ctx, fit, text)
	switch {
	case err != nil || len(ids) == 0:
		return "", err
	case len(ids) == 1:
		return ids[0], nil
	}
	several := &tracker.AmbiguousError{Text: typed}
	for _, id := range ids {
		several.Candidates = append(several.Candidates, tracker.RunID(id))
	}
	return "", several
}

// nothing explains that no node matches, and names those that are near.
func (r *Resolver) nothing(ctx context.Context, text string) error {
	owner, _, _ := strings.Cut(text, "#")
	near, known, err := r.Names.Similar(ctx, owner)
	if name, _, versioned := strings.Cut(owner, "@"); versioned && len(near) == 0 && err == nil {
		near, known, err = r.Names.Similar(ctx, name)
	}
	switch {
	case err != nil:
		return err
	case !known:
		return notFound(text, errors.New("the root has no runs"))
	case len(near) == 0:
		return notFound(text, errors.New("no run or input has this in its id"))
	}
	return notFound(text, errors.New("no run or input has this in its id; near are "+strings.Join(near, ", ")))
}

// isAbsolute reports whether text means the same place whatever the working directory.
func isAbsolute(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return strings.HasPrefix(text, "/") || ok && storageSchemes[strings.ToLower(scheme)]
}
