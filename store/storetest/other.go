package storetest

import (
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

func otherCases() []Case {
	return []Case{
		{"a verb takes the requests it is said to", requestCounts},
		{"errors say what was tried on which key", errorShape},
	}
}

func requestCounts(t T, s *store.Store) {
	ctx := t.Context()
	deleteCost := map[string]int64{"delete": 1}
	if s.Scheme() == "s3" {
		deleteCost["stat"] = 1 // S3 does not tell whether there was anything
	}
	for _, c := range []struct {
		name string
		do   func() error
		want map[string]int64
	}{
		{"create", func() error { return s.Create(ctx, "o", []byte("12345")) }, map[string]int64{"create": 1}},
		{"put", func() error { return s.Put(ctx, "o", []byte("12345")) }, map[string]int64{"put": 1}},
		{"stream", func() error { return second(s.PutFrom(ctx, "o", strings.NewReader("12345"), 5)) }, map[string]int64{"put": 1}},
		{"get", func() error { return second(s.Get(ctx, "o")) }, map[string]int64{"get": 1}},
		{"stat", func() error { return second(s.Stat(ctx, "o")) }, map[string]int64{"stat": 1}},
		{"list", func() error { return drain(t, s) }, map[string]int64{"list": 1}},
		{"delete", func() error { return s.Delete(ctx, "o") }, deleteCost},
	} {
		before := s.Stats()
		must(t, c.do(), "%s", c.name)
		after := s.Stats()
		if n := after.Total() - before.Total(); n != sum(c.want) {
			t.Errorf("%s takes %d requests, want %d", c.name, n, sum(c.want))
		}
		for op, n := range c.want {
			if got := after.Requests[op] - before.Requests[op]; got != n {
				t.Errorf("%s takes %d %s requests, want %d", c.name, got, op, n)
			}
		}
	}
	if total := s.Stats(); total.Up < 10 || total.Down < 5 {
		t.Errorf("%d bytes went up and %d down, want 10 and 5 or more", total.Up, total.Down)
	}
}

func sum(counts map[string]int64) (n int64) {
	for _, v := range counts {
		n += v
	}
	return n
}

func drain(t T, s *store.Store) error {
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			return err
		}
	}
	return nil
}

func errorShape(t T, s *store.Store) {
	ctx := t.Context()
	put(t, s, "there", "x")
	for op, err := range map[string]error{
		"get":    second(s.Get(ctx, "dir/o")),
		"open":   second(s.Open(ctx, "dir/o")),
		"stat":   second(s.Stat(ctx, "dir/o")),
		"delete": s.Delete(ctx, "dir/o"),
	} {
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Op != op || e.Key != "dir/o" || e.Kind != store.ErrNotExist {
			t.Errorf("%s: error is %#v, want op %s, key dir/o, kind ErrNotExist", op, err, op)
		}
	}
	e, ok := errors.AsType[*store.Error](s.Create(ctx, "there", nil))
	if !ok || e.Op != "create" || e.Key != "there" || e.Kind != store.ErrExist {
		t.Errorf("create: error is %#v, want op create, key there, kind ErrExist", e)
	}
}
