package filter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestWithAliases(t *testing.T) {
	runs := []*tracker.Run{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}
	names := map[string][]string{"a": {"prod", "best"}, "b": {"prod-2"}, "d": {"7"}}
	for text, want := range map[string][]string{
		"attributes.alias = 'prod'":                      {"a"},
		"attributes.aliases LIKE 'prod%'":                {"a", "b"},
		"alias != 'prod'":                                {"a", "b", "d"}, // a by best
		"not alias = 'prod'":                             {"b", "c", "d"},
		"alias in ('best', 'prod-2') and id != 'b'":      {"a"},
		"alias not in ('prod', 'best')":                  {"b", "d"},
		"alias is null":                                  {"c"},
		"alias is not null":                              {"a", "b", "d"},
		"alias = 'nothing'":                              nil,
		"alias = 'nothing' or alias ILIKE 'BEST'":        {"a"},
		"alias = '7'":                                    {"d"},
		"params.x is null and not (alias is not null)":   {"c"},
		"id = 'c' or (id = 'd' and alias is null)":       {"c"},
		"tags.alias is null and attributes.alias = '7' ": {"d"},
	} {
		expr, err := filter.Parse(text, time.Time{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !filter.NamesAlias(expr) {
			t.Errorf("%s does not ask for aliases", text)
		}
		expr = filter.WithAliases(expr, names)
		if filter.NamesAlias(expr) {
			t.Errorf("%s still asks for aliases", expr)
		}
		var got []string
		for _, run := range runs {
			if expr.Match(filter.Run{Run: run}) {
				got = append(got, string(run.ID))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s (%s): %v, want %v", text, expr, got, want)
		}
	}
	expr, err := filter.Parse("tags.alias = 'x' and not name = 'y' or id = 'z'", time.Time{})
	if err != nil || filter.NamesAlias(expr) {
		t.Errorf("%s asks for aliases, error %v", expr, err)
	}
}
