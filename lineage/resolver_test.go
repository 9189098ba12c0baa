package lineage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
)

func TestResolveAlias(t *testing.T) {
	r := &lineage.Resolver{Names: library(), Alias: func(_ context.Context, name string) (string, error) {
		if name == "prod" {
			return "local://torchx/train-x7f2", nil
		}
		return "", &store.Error{Op: "find alias", Key: name, Kind: store.ErrNotExist}
	}}
	for text, want := range map[string]string{"@prod": "local://torchx/train-x7f2", "@prod#model": "local://torchx/train-x7f2#model", "b9k": "local://torchx/train-b9k1"} {
		if got, err := r.Resolve(t.Context(), text); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for text, kind := range map[string]error{"@none": store.ErrNotExist, "@prod#": store.ErrInvalid, "": store.ErrInvalid} {
		if got, err := r.Resolve(t.Context(), text); !errors.Is(err, kind) {
			t.Errorf("Resolve(%q) = %q, %v; want kind %v", text, got, err, kind)
		}
	}
}

// Names that cannot be looked up are not taken for names that nothing has.
func TestResolverHandsErrorsOn(t *testing.T) {
	r := &lineage.Resolver{Names: broken{}}
	if _, err := r.Resolve(t.Context(), "x"); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error %v, want that of the names", err)
	}
}

type broken struct{}

func (broken) Find(context.Context, lineage.Fit, string) ([]string, error) {
	return nil, store.ErrCorrupt
}

func (broken) Similar(context.Context, string) ([]string, bool, error) { return nil, false, nil }
