package filter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/store"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ filter, want string }{
		{`metrics.accuracy > 0.9`, `metrics.accuracy > 0.9`},
		{`params.model = "lr"`, `params.model = 'lr'`},
		{`param.model == 'lr'`, `params.model = 'lr'`},
		{`tags.t LIKE 'a%' and attributes.status = 'FAILED'`, `tags.t LIKE 'a%' and attributes.state = 'FAILED'`},
		{`status = 'FINISHED'`, `attributes.state IN ('SUCCEEDED', 'FINISHED')`},
		{`status != 'killed'`, `attributes.state NOT IN ('CANCELLED', 'KILLED')`},
		{`status in ('running', 'finished')`, `attributes.state IN ('RUNNING', 'SUCCEEDED', 'FINISHED')`},
		{"metrics.`val loss` <= 1e-3", `metrics."val loss" <= 1e-3`},
		{`params."a ""b""" != 'it''s'`, `params."a ""b""" != 'it''s'`},
		{`a.b = 1`, ""},
		{`params.a=1 or params.b=2 and params.c=3`, `params.a = 1 or (params.b = 2 and params.c = 3)`},
		{`(params.a=1 OR params.b=2) AND NOT params.c=3`, `(params.a = 1 or params.b = 2) and (not params.c = 3)`},
		{`params.a not like 'x' and params.b not in (1, 'y')`, `params.a NOT LIKE 'x' and params.b NOT IN (1, 'y')`},
		{`params.a is null or params.b is not null`, `params.a IS NULL or params.b IS NOT NULL`},
		{`params.x.y.z = true`, `params.x.y.z = 'true'`},
		{`params.n = -.5`, `params.n = -.5`},
		{`started > '7d ago'`, `attributes.started > '2026-11-13T12:00:00Z'`},
		{`start_time >= 1700000000000`, `attributes.started >= '2023-11-14T22:13:20Z'`},
		{`created < '2026-11-20'`, `attributes.started < '2026-11-20T00:00:00Z'`},
		{`artifacts.size > 1e9 and artifacts.kind = 'model'`, `artifacts.size_bytes > 1e9 and artifacts.kind = 'model'`},
		{`run_id ilike '%ABC%'`, `attributes.id ILIKE '%ABC%'`},
		{`params."1" = '1'`, `params."1" = '1'`},
		{`metadata.mfu = 1`, `metadata.mfu = 1`},
	} {
		expr, err := filter.Parse(tt.filter, now)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s: parsed as %s, want an error", tt.filter, expr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		if got := expr.String(); got != tt.want {
			t.Errorf("%s: parsed as %s, want %s", tt.filter, got, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		filter string
		caret  int // column, from 0
		reason string
	}{
		{``, 0, "expected a field"},
		{`params.lr`, 9, "expected a comparison"},
		{`params.lr = `, 12, "expected a number or a text"},
		{`params.lr = adam`, 12, "write 'adam'"},
		{`params.é = 1 and and`, 17, "expected a field"},
		{`metrics.loss = 'low'`, 15, "is a number"},
		{`metrics.loss like 'low'`, 18, "needs a field of text"},
		{`started > 'soon'`, 10, "is no time"},
		{`started > 1e300`, 10, "is no time"},
		{`color = 'red'`, 0, `attributes have no "color", known are id, name`},
		{`params. = 1`, 8, "expected a name"},
		{`params.a = 'x`, 11, "not closed"},
		{`(params.a = 1`, 13, "expected ) for the ( at column 1"},
		{`params.a = 1)`, 12, "expected and, or, or the end"},
		{`params.a in 1`, 12, "expected ( after IN"},
		{`params.a in (1 2)`, 15, "expected , or )"},
		{`params.a not = 1`, 13, "after NOT"},
		{`params.a is 1`, 12, "expected NULL"},
		{`params.a = 1; drop table`, 12, "no place here"},
		{`1 = 1`, 0, "expected a field"},
		{strings.Repeat("(", 300) + `a`, 200, "nests deeper"},
	} {
		_, err := filter.Parse(tt.filter, now)
		var syntax *filter.SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: error %v, want a syntax error", tt.filter, err)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		caret := len([]rune(lines[len(lines)-1])) - 3
		if caret != tt.caret || !strings.Contains(lines[0], tt.reason) {
			t.Errorf("%s: caret at %d, want %d; %q, want %q", tt.filter, caret, tt.caret, lines[0], tt.reason)
		}
	}
}

func TestParseOrder(t *testing.T) {
	orders, err := filter.ParseOrder("metrics.acc DESC, start_time, `name` asc")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range orders {
		got = append(got, o.String())
	}
	if want := "metrics.acc DESC|attributes.started|attributes.name"; strings.Join(got, "|") != want {
		t.Errorf("orders %v, want %s", got, want)
	}
	for _, bad := range []string{"", "metrics.acc DOWN", "metrics.a,", "a b c", "metrics.a; x"} {
		if _, err := filter.ParseOrder(bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: error %v, want one of kind ErrInvalid", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`metrics.accuracy > 0.9 and (params.optimizer = 'adam' or tags."night run" like 'n%')`,
		"not attributes.status in ('FAILED', \"KILLED\") and started > '7d ago'",
		"params.`x` is not null", `start_time < 1700000000000`, `((`, `params."a""b"='c''d'`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, err := filter.Parse(text, now)
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) {
				t.Fatalf("%q: error %v is of no kind", text, err)
			}
			return
		}
		again, err := filter.Parse(expr.String(), now)
		if err != nil {
			t.Fatalf("%q: canonical form %q does not parse: %v", text, expr, err)
		}
		if again.String() != expr.String() {
			t.Fatalf("%q: canonical form %q parses as %q", text, expr, again)
		}
	})
}
