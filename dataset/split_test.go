package dataset_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// labelled is CSV with n rows of each label, one label after the other, and their number as id.
func labelled(labels map[string]int, order ...string) string {
	var out strings.Builder
	out.WriteString("id,label\n")
	id := 0
	for _, label := range order {
		for range labels[label] {
			fmt.Fprintf(&out, "%d,%s\n", id, label)
			id++
		}
	}
	return out.String()
}

// splitRows stages a text and returns the rows of each split.
func splitRows(t *testing.T, text string, spec dataset.Spec) (map[dataset.Name][]string, error) {
	t.Helper()
	from := openStore(t, "mem://", nil)
	s, d, err := stageInputs(t, putTexts(t, from, map[string]string{"a.csv": text}, "a.csv"), nil, spec)
	if err != nil {
		return nil, err
	}
	rows := make(map[dataset.Name][]string)
	for name := range d.Commit.Splits {
		rows[name] = strings.Split(rowsOf(t, s, d, name), "\n")
	}
	return rows, nil
}

func TestSplitsAreStratified(t *testing.T) {
	counts := map[string]int{"often": 2000, "seldom": 100, "rare": 10, "": 50}
	spec := dataset.Spec{Split: dataset.Split{Val: 0.2, Test: 0.1, Stratify: "label"}, Seed: 3}
	rows, err := splitRows(t, labelled(counts, "often", "", "rare", "seldom"), spec)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, fraction := range map[dataset.Name]float64{dataset.Train: 0.7, dataset.Val: 0.2, dataset.Test: 0.1} {
		for label, n := range counts {
			suffix := `"label":"` + label + `"}`
			if label == "" {
				suffix = `"label":null}`
			}
			got := 0
			for _, row := range rows[name] {
				if strings.HasSuffix(row, suffix) {
					got++
				}
			}
			if want := fraction * float64(n); math.Abs(float64(got)-want) >= 6 {
				t.Errorf("%s has %d rows of %q, want about %v", name, got, label, want)
			}
		}
		for _, row := range rows[name] {
			if seen[row] {
				t.Fatalf("%s is in two splits", row)
			}
			seen[row] = true
		}
	}
	if len(seen) != 2160 {
		t.Errorf("%d rows in all splits, want 2160", len(seen))
	}
	spec.Seed++
	other, err := splitRows(t, labelled(counts, "often", "", "rare", "seldom"), spec)
	if err != nil || strings.Join(other[dataset.Val], "") == strings.Join(rows[dataset.Val], "") {
		t.Errorf("another seed draws the same rows (%v)", err)
	}
}

// TestSplitIsFixed holds the rule fixed: datasets in stores depend on it.
func TestSplitIsFixed(t *testing.T) {
	rows, err := splitRows(t, labelled(map[string]int{"x": 20}, "x"), dataset.Spec{Split: dataset.Split{Val: 0.2, Test: 0.1}, Seed: 42})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(name dataset.Name) string {
		var list []string
		for _, row := range rows[name] {
			list = append(list, strings.TrimSuffix(strings.TrimPrefix(row, `{"id":`), `,"label":"x"}`))
		}
		return strings.Join(list, " ")
	}
	if got, want := ids(dataset.Val)+" | "+ids(dataset.Test), "4 9 14 16 18 | 7 15"; got != want {
		t.Errorf("validation | test: %s, want %s", got, want)
	}
}

func TestSplitByColumn(t *testing.T) {
	spec := dataset.Spec{Split: dataset.Split{Column: "v"}}
	for name, text := range map[string]string{
		"booleans": "a,v\n1,false\n2,true\n3,false\n",
		"integers": "a,v\n1,0\n2,7\n3,0\n",
		"reals":    "v,a\n0.0,1\n0.5,2\n0.0,3\n",
	} {
		rows, err := splitRows(t, text, spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := mustJSON(t, rows); got != `{"train":["{\"a\":1}","{\"a\":3}"],"val":["{\"a\":2}"]}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	column := dataset.Split{Column: "v"}
	for name, test := range map[string]struct {
		text, want string
		split      dataset.Split
	}{
		"neither":               {"a,v\n1,0\n2,\n", "row 2", column},
		"below zero":            {"a,v\n1,0\n2,-1\n", "row 2", column},
		"not a number":          {"a,v\n1,0.5\n2,NaN\n", "row 2", column},
		"text":                  {"a,v\n1,x\n", "utf8", column},
		"no such column":        {"a\n1\n", `"v"`, column},
		"no validation":         {"a,v\n1,0\n", "val has no rows", column},
		"no training":           {"a,v\n1,1\n", "train has no rows", column},
		"too few for a test":    {"a\n1\n", "has no rows", dataset.Split{Test: 0.1, Val: 0.1}},
		"a fraction too small":  {"a\n1\n", "below", dataset.Split{Val: 1e-9}},
		"strata of reals":       {"a\n1.5\n", "float64", dataset.Split{Val: 0.1, Stratify: "a"}},
		"no column to stratify": {"a\n1\n", `"b"`, dataset.Split{Val: 0.1, Stratify: "b"}},
	} {
		if _, err := splitRows(t, test.text, dataset.Spec{Split: test.split}); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
