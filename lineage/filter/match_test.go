package filter_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// sample is a run with values of every type.
func sample(t *testing.T) filter.Run {
	t.Helper()
	metadata, err := pyjson.UnmarshalObject([]byte(`{
		"params.lr": 0.1, "params.text": "0.25", "params.optimizer": "Adam", "params.none": null, "params.flag": true,
		"params.layers": [64, 10], "metrics.accuracy": 0.95, "metrics.broken": NaN, "tags.night run": "nightly",
		"heirloom.name": "train", "heirloom.exit_code": 0, "heirloom.command": ["python", "train.py"]}`))
	if err != nil {
		t.Fatal(err)
	}
	details, err := pyjson.UnmarshalObject([]byte(`{"heirloom.size_bytes": 2000, "heirloom.kind": "model", "heirloom.sha256": "ab"}`))
	if err != nil {
		t.Fatal(err)
	}
	return filter.Run{Run: &tracker.Run{
		ID: "local://torchx/train-x1", State: tracker.Succeeded, Metadata: metadata,
		Artifacts: []tracker.Artifact{{Name: "log", Path: "/log"}, {Name: "model", Path: "/m", Metadata: details}},
		Sources: []tracker.Source{
			{ID: "local://torchx/prepare-y2", Artifact: "images", Role: tracker.RoleInput},
			{ID: "clicks@1", Name: "clicks", Version: "1", Role: tracker.RoleInput},
		},
		Attempts: make([]tracker.Attempt, 2),
		Started:  time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), Ended: time.Date(2026, 11, 20, 10, 1, 30, 0, time.UTC),
	}}
}

func TestMatch(t *testing.T) {
	run := sample(t)
	for text, want := range map[string]bool{
		`params.lr = 0.1`:                                        true,
		`params.lr = 0.10`:                                       true,
		`params.lr = '0.1'`:                                      true,
		`params.lr = '0.10'`:                                     false,
		`params.text > 0.2 and params.text < 0.3`:                true,
		`params.optimizer > 5`:                                   false,
		`params.optimizer != 5`:                                  false,
		`params.optimizer = 'adam'`:                              false,
		`params.optimizer ilike 'ADAM'`:                          true,
		`params.optimizer like 'A_a%'`:                           true,
		`params.optimizer not like 'A%'`:                         false,
		`params.absent != 'x'`:                                   false,
		`params.absent not like 'x'`:                             false,
		`not params.absent = 'x'`:                                true,
		`params.absent is null and params.none is null`:          true,
		`params.lr is not null`:                                  true,
		`params.flag = true`:                                     true,
		`params.flag = 'true'`:                                   true,
		`params.layers = '[64,10]'`:                              true,
		`metrics.accuracy >= 0.95 and metrics.accuracy <= 0.95`:  true,
		`metrics.broken > 0 or metrics.broken <= 0`:              false,
		`tags."night run" = 'nightly'`:                           true,
		`metadata."tags.night run" in ('x', 'nightly')`:          true,
		`status = 'FINISHED' and attributes.state = 'succeeded'`: true,
		`status != 'FINISHED'`:                                   false,
		`name = 'train' and id like '%train-x1'`:                 true,
		`exit_code = 0 and attempts = 2`:                         true,
		`duration = 90 and ended is not null`:                    true,
		`started >= '2026-11-20T10:00:00Z'`:                      true,
		`started = '2026-11-20 10:00'`:                           true,
		`started > '1h ago'`:                                     false,
		`started > '0.5w ago'`:                                   true,
		`command like 'python %'`:                                true,
		`artifacts.size_bytes = 2000 and artifacts.kind='model'`: true,
		`artifacts.name != 'model'`:                              true,
		`artifacts.digest = 'ab'`:                                true,
		`parents.id = 'clicks@1' and parents.artifact='images'`:  true,
		`datasets.name = 'clicks' and datasets.version = 1`:      true,
		`datasets.name = 'clicks' and datasets.version = '1'`:    true,
		`datasets.name != 'clicks'`:                              false,
		`signal is null`:                                         true,
	} {
		expr, err := filter.Parse(text, now)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := expr.Match(run); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

// TestMatches compares LIKE with regular expressions.
func TestMatches(t *testing.T) {
	const letters = "ab%_é"
	word := func(seed []byte) string {
		var b strings.Builder
		for _, c := range seed[:min(len(seed), 12)] {
			b.WriteRune([]rune(letters)[int(c)%5])
		}
		return b.String()
	}
	agree := func(x, y []byte) bool {
		text, pattern := word(x), word(y)
		expression := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(pattern))
		want := regexp.MustCompile("^(?s:" + expression + ")$").MatchString(text)
		return filter.Matches(text, pattern, false) == want
	}
	if err := quick.Check(agree, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

func TestSort(t *testing.T) {
	run := func(id, value string) filter.Run {
		metadata, err := pyjson.UnmarshalObject([]byte(`{"params.x": ` + value + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return filter.Run{Run: &tracker.Run{ID: tracker.RunID(id), Metadata: metadata}}
	}
	runs := []filter.Run{run("a", "10"), run("b", `"text"`), run("c", "null"), run("d", "9"), run("e", `"1e1"`)}
	for order, want := range map[string]string{"params.x": "daebc", "params.x desc": "beadc", "params.x DESC, id desc": "beadc", "id desc": "edcba"} {
		orders, err := filter.ParseOrder(order)
		if err != nil {
			t.Fatal(err)
		}
		sorted := append([]filter.Run{}, runs...)
		filter.Sort(sorted, orders)
		got := ""
		for _, r := range sorted {
			got += string(r.ID)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}
