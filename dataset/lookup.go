package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// leastDigits is how many digits of a fingerprint are taken for one.
const leastDigits = 8

var fingerprintStart = pattern.Lazy(fmt.Sprintf("^[0-9a-f]{%d,64}$", leastDigits))

// Lookup finds a dataset by what people call it: NAME@VERSION, NAME or
// NAME@latest, or at least eight digits of its fingerprint that no other has.
// label is empty for one that was named by its fingerprint. The error has kind
// store.ErrNotExist if there is none, store.ErrConflict if several are meant,
// and else those of Stage.
func Lookup(ctx context.Context, s *store.Store, text string) (d *Dataset, label Label, err error) {
	ref, err := ParseRef(text)
	if err != nil {
		return nil, Label{}, err
	}
	label, err = Resolve(ctx, s, ref)
	switch {
	case errors.Is(err, store.ErrNotExist) && ref.Version == "" && fingerprintStart().MatchString(text):
		fingerprint, err := whole(ctx, s, text)
		if err != nil {
			return nil, Label{}, err
		}
		d, err = find(ctx, s, fingerprint)
		return d, Label{}, err
	case err != nil:
		return nil, Label{}, err
	}
	d, err = find(ctx, s, label.Fingerprint)
	if errors.Is(err, store.ErrNotExist) {
		err = failure("find dataset", store.Key(label.Ref().String()), store.ErrNotExist,
			fmt.Errorf("it was pruned; it was %s", label.Fingerprint))
	}
	return d, label, err
}

// whole completes the beginning of a fingerprint.
func whole(ctx context.Context, s *store.Store, start string) (store.Digest, error) {
	var found []string
	for object, err := range s.List(ctx, string(commitKey(s.Layout(), store.Digest(start), 0))) {
		if err != nil {
			return "", err
		}
		fingerprint, generation := parseCommitName(object.Key.Base())
		if object.Key == commitKey(s.Layout(), fingerprint, generation) && !slices.Contains(found, string(fingerprint)) {
			found = append(found, string(fingerprint))
		}
	}
	switch len(found) {
	case 0:
		return "", failure("find dataset", store.Key(start), store.ErrNotExist, errors.New("no dataset has this name or fingerprint"))
	case 1:
		return store.Digest(found[0]), nil
	}
	return "", failure("find dataset", store.Key(start), store.ErrConflict, fmt.Errorf("it may be %s", strings.Join(found, " or ")))
}
