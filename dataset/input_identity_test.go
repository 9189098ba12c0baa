package dataset_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// TestInputsAreIdentified changes bytes, and how they are read.
func TestInputsAreIdentified(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, nil)
	identity := func(opts *dataset.InputOptions, stdin io.Reader) string {
		input := dataset.Input{Store: s, Key: "a.csv"}
		if stdin != nil {
			input = dataset.Input{Reader: stdin}
		}
		in, err := dataset.OpenInputs(t.Context(), []dataset.Input{input}, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		return mustJSON(t, in.Sources()) + mustJSON(t, in.Options())
	}
	seen := map[string]string{}
	check := func(name, id string) {
		if other, ok := seen[id]; ok {
			t.Errorf("%s is taken for %s", name, other)
		}
		seen[id] = name
	}
	putTexts(t, s, map[string]string{"a.csv": "a\n1\n"}, "a.csv")
	check("a file", identity(nil, nil))
	check("by hash", identity(&dataset.InputOptions{Hash: true}, nil))
	check("a delimiter", identity(&dataset.InputOptions{Delimiter: ';'}, nil))
	check("nulls", identity(&dataset.InputOptions{Nulls: []string{}}, nil))
	check("a schema", identity(&dataset.InputOptions{Schema: schema(t, "a:int8")}, nil))
	check("a format", identity(&dataset.InputOptions{Format: "tsv"}, nil))
	check("stdin", identity(nil, strings.NewReader("a\n1\n")))
	check("other stdin", identity(nil, strings.NewReader("a\n2\n")))
	hashed := identity(&dataset.InputOptions{Hash: true}, nil)
	putTexts(t, s, map[string]string{"a.csv": "a\n1\n"}, "a.csv")
	if identity(&dataset.InputOptions{Hash: true}, nil) != hashed {
		t.Error("the hash of equal bytes differs")
	}
	putTexts(t, s, map[string]string{"a.csv": "a\n2\n"}, "a.csv")
	check("other bytes", identity(nil, nil))
	check("other bytes by hash", identity(&dataset.InputOptions{Hash: true}, nil))
}

// TestReplacedInput puts other bytes in place between OpenInputs and Produce.
func TestReplacedInput(t *testing.T) {
	onStores(t, func(t *testing.T, from *store.Store) {
		in, err := dataset.OpenInputs(t.Context(), putTexts(t, from, map[string]string{"a.csv": "a\n1\n"}, "a.csv"), nil)
		if err != nil {
			t.Fatal(err)
		}
		putTexts(t, from, map[string]string{"a.csv": "a\n2\n"}, "a.csv")
		s := openStore(t, "mem://", nil)
		_, _, err = dataset.Stage(t.Context(), s, dataset.Spec{Sources: in.Sources()}, in.Produce)
		if !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotExist) {
			t.Errorf("Stage of replaced input: %v", err)
		}
	})
}

func TestStdin(t *testing.T) {
	temp := t.TempDir()
	in, err := dataset.OpenInputs(t.Context(), []dataset.Input{{Reader: strings.NewReader("a\n1\n")}}, &dataset.InputOptions{TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a stage that is taken over reads it again
		s := openStore(t, "mem://", nil)
		d, _, err := dataset.Stage(t.Context(), s, dataset.Spec{Sources: in.Sources()}, in.Produce)
		if err != nil || rowsOf(t, s, d, dataset.Train) != `{"a":1}` {
			t.Fatalf("Stage: %v", err)
		}
	}
	if err := errors.Join(in.Close(), in.Close()); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}
