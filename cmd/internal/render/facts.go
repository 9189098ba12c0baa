package render

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// maxFacts is how many metrics stand beside a run's name.
const maxFacts = 2

// facts names the metrics that tell most of a run: those of the test split first, then of validation, then others;
// within each the shares of right answers before losses and all else; then the shorter name, so that best_val_loss
// stands back behind val_loss, of which it is a variant.
func facts(m *pyjson.Object) []string {
	var names []string
	for key, v := range m.All() {
		if name, ok := strings.CutPrefix(key, tracker.PrefixMetrics); ok && isNumber(v) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	var chosen, list []string
	for _, name := range names {
		variant := func(of string) bool { return strings.Contains(name, of) }
		if len(list) == maxFacts || slices.ContainsFunc(chosen, variant) {
			continue
		}
		v, _ := m.Get(tracker.PrefixMetrics + name)
		chosen, list = append(chosen, name), append(list, Sanitize(name)+" "+short(v))
	}
	return list
}

// short writes a number to four digits.
func short(v any) string {
	if f, ok := v.(float64); ok && !math.IsInf(f, 0) {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64) // it was just written, so it parses
		v = f
	}
	return brief(v)
}

// rank orders metrics by how much they tell, the lower the more.
func rank(name string) int {
	name = strings.ToLower(name)
	r := 4
	for i, split := range []string{"test", "val", "eval"} {
		if strings.Contains(name, split) {
			r = 2 * min(i, 1)
			break
		}
	}
	for _, share := range []string{"acc", "auc", "f1", "bleu", "map", "score"} {
		if strings.Contains(name, share) {
			return r
		}
	}
	return r + 1
}

func isNumber(v any) bool {
	switch v := v.(type) {
	case int64, *big.Int:
		return true
	case float64:
		return !math.IsNaN(v)
	}
	return false
}

// group collects the members under a prefix, without it, in order of name.
func group(m *pyjson.Object, prefix string) *pyjson.Object {
	names := []string{}
	for key := range m.All() {
		if name, ok := strings.CutPrefix(key, prefix); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	o := &pyjson.Object{}
	for _, name := range names {
		v, _ := m.Get(prefix + name)
		o.Set(name, v)
	}
	return o
}
