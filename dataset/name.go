package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// Latest stands in place of a version for the highest that a name has.
const Latest = "latest"

// Ref names a dataset for people: clicks@2026-11-20. It never comes to mean
// another.
type Ref struct {
	Name    string
	Version string // "" and Latest are the highest
}

// refPart is what names and versions are made of, so that they can be elements
// of keys and of command lines as they are.
var refPart = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// ParseRef reads NAME, NAME@VERSION or NAME@latest. The error has kind
// store.ErrInvalid.
func ParseRef(text string) (Ref, error) {
	name, version, versioned := strings.Cut(text, "@")
	for _, part := range []string{name, version} {
		if !refPart().MatchString(part) && (versioned || part == name) {
			return Ref{}, failure("name dataset", store.Key(text), store.ErrInvalid,
				errors.New("a name is NAME@VERSION, each of 1 to 100 letters, digits, \".\", \"_\" and \"-\", without a dot or dash in front"))
		}
	}
	return Ref{Name: name, Version: version}, nil
}

func (r Ref) String() string {
	if r.Version == "" {
		return r.Name
	}
	return r.Name + "@" + r.Version
}

// IsLatest tells whether r leaves the version open.
func (r Ref) IsLatest() bool { return r.Version == "" || r.Version == Latest }

// CompareVersions orders versions: runs of digits by their number, all else
// bytewise, so that v10 follows v9, and dates follow each other.
func CompareVersions(a, b string) int {
	digits := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
	for x, y := a, b; ; {
		n, m := digits(x), digits(y)
		switch {
		case x == "" || y == "":
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
		case n != "" && m != "":
			x, y = x[len(n):], y[len(m):]
			n, m = strings.TrimLeft(n, "0"), strings.TrimLeft(m, "0")
			if c := cmp.Or(cmp.Compare(len(n), len(m)), cmp.Compare(n, m)); c != 0 {
				return c
			}
		case x[0] != y[0]:
			return cmp.Compare(x[0], y[0])
		default:
			x, y = x[1:], y[1:]
		}
	}
}

// Label is the record of a name, created once.
type Label struct {
	Version        int          `json:"version"` // of this format: 1
	Name           string       `json:"name"`
	DatasetVersion string       `json:"dataset_version"`
	Fingerprint    store.Digest `json:"fingerprint"`
	Created        time.Time    `json:"created"`
}

// Ref is the name that the label gives.
func (l Label) Ref() Ref { return Ref{l.Name, l.DatasetVersion} }

// labelDir holds the labels: <name>/<version>.
func labelDir(layout store.Layout) store.Key { return layout.Heirloom().Join("datasets", "name") }

func (r Ref) key(layout store.Layout) store.Key { return labelDir(layout).Join(r.Name, r.Version) }

// Labelled reads what a name means; the version must be given. The error has
// kind store.ErrNotExist if there is none.
func Labelled(ctx context.Context, s *store.Store, ref Ref) (Label, error) {
	key := ref.key(s.Layout())
	body, err := s.Get(ctx, key)
	if err != nil {
		return Label{}, err
	}
	var l Label
	if err := decode("read name", key, body, &l); err != nil {
		return Label{}, err
	}
	if l.Ref() != ref || l.Fingerprint == "" {
		return Label{}, failure("read name", key, store.ErrCorrupt, fmt.Errorf("it is that of %s", l.Ref()))
	}
	return l, nil
}

// SetLabel gives a committed dataset a name, and returns it. Without a version
// that is the one under which the name has this dataset, else the next number.
// The error has kind store.ErrExist if the name means another dataset.
func SetLabel(ctx context.Context, s *store.Store, ref Ref, fingerprint store.Digest) (Ref, error) {
	if ref.Version == Latest {
		return Ref{}, failure("name dataset", store.Key(ref.String()), store.ErrInvalid, errors.New("the latest is found, not set; give a version"))
	}
	if ref.Version != "" {
		return ref, setLabel(ctx, s, ref, fingerprint)
	}
	for {
		next, known, err := nextVersion(ctx, s, ref.Name, fingerprint)
		if err != nil || known {
			return next, err
		}
		if err := setLabel(ctx, s, next, fingerprint); !errors.Is(err, store.ErrExist) {
			return next, err
		}
	}
}

func setLabel(ctx context.Context, s *store.Store, ref Ref, fingerprint store.Digest) error {
	if err := CheckLabel(ctx, s, ref, fingerprint); !errors.Is(err, store.ErrNotExist) {
		return err
	}
	body, err := encode(Label{
		Version: formatVersion, Name: ref.Name, DatasetVersion: ref.Version, Fingerprint: fingerprint, Created: time.Now().UTC(),
	})
	if err != nil {
		return err
	}
	err = s.Create(ctx, ref.key(s.Layout()), body)
	if errors.Is(err, store.ErrExist) {
		return CheckLabel(ctx, s, ref, fingerprint)
	}
	return err
}

// CheckLabel is nil if the name means the dataset of that fingerprint. The error
// has kind store.ErrNotExist if it means none yet, and store.ErrExist if it means
// another.
func CheckLabel(ctx context.Context, s *store.Store, ref Ref, fingerprint store.Digest) error {
	if ref.IsLatest() {
		return failure("read name", store.Key(ref.Name), store.ErrNotExist, nil)
	}
	label, err := Labelled(ctx, s, ref)
	if err != nil || label.Fingerprint == fingerprint {
		return err
	}
	return failure("name dataset", store.Key(ref.String()), store.ErrExist,
		fmt.Errorf("it means another dataset, %.12s of %s, not %.12s; a name is never given anew, choose another version",
			label.Fingerprint, label.Created.Format(time.RFC3339), fingerprint))
}

// nextVersion is the version under which a name has the dataset already, or the
// number after its highest.
func nextVersion(ctx context.Context, s *store.Store, name string, fingerprint store.Digest) (next Ref, known bool, err error) {
	versions, err := Versions(ctx, s, name)
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return Ref{}, false, err
	}
	highest := 0
	for _, version := range versions {
		label, err := Labelled(ctx, s, Ref{name, version})
		if err != nil {
			return Ref{}, false, err
		}
		if label.Fingerprint == fingerprint {
			return label.Ref(), true, nil
		}
		if n, err := strconv.Atoi(version); err == nil {
			highest = max(highest, n)
		}
	}
	return Ref{name, strconv.Itoa(highest + 1)}, false, nil
}

// Versions lists those of a name, the highest last. The error has kind
// store.ErrNotExist if there are none.
func Versions(ctx context.Context, s *store.Store, name string) ([]string, error) {
	var list []string
	for object, err := range s.List(ctx, string(labelDir(s.Layout()).Join(name))+"/") {
		if err != nil {
			return nil, err
		}
		list = append(list, object.Key.Base())
	}
	if len(list) == 0 {
		return nil, failure("find dataset", store.Key(name), store.ErrNotExist, errors.New("no dataset has this name"))
	}
	slices.SortFunc(list, CompareVersions)
	return list, nil
}

// Refs lists all names with their versions, by name and then by version, bytewise:
// one listing.
func Refs(ctx context.Context, s *store.Store) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for object, err := range s.List(ctx, string(labelDir(s.Layout()))+"/") {
			if !yield(Ref{object.Key.Dir().Base(), object.Key.Base()}, err) || err != nil {
				return
			}
		}
	}
}

// Resolve finds the label that a name means; without a version, or for Latest,
// the highest. The error has kind store.ErrNotExist, and then names the versions
// that there are.
func Resolve(ctx context.Context, s *store.Store, ref Ref) (Label, error) {
	if !ref.IsLatest() {
		label, err := Labelled(ctx, s, ref)
		if !errors.Is(err, store.ErrNotExist) {
			return label, err
		}
	}
	versions, err := Versions(ctx, s, ref.Name)
	if err != nil {
		return Label{}, err
	}
	if ref.IsLatest() {
		return Labelled(ctx, s, Ref{ref.Name, versions[len(versions)-1]})
	}
	return Label{}, failure("find dataset", store.Key(ref.String()), store.ErrNotExist,
		fmt.Errorf("%s has the versions %s", ref.Name, strings.Join(versions[max(0, len(versions)-10):], ", ")))
}
