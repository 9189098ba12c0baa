package storetest

import (
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

func durableCases() []Case {
	return []Case{{"what is durable is on disk when a write returns", onDisk}}
}

// onDisk asks the system which pages of a file still wait to be written. Where
// the store is not on a local disk, or the system cannot tell, this is for the
// driver's own tests.
func onDisk(t T, s *store.Store) {
	if !s.Capabilities().Durable {
		return
	}
	ctx := t.Context()
	put(t, s, "dir/put", pattern(10_000))
	must(t, s.Create(ctx, "dir/create", []byte(pattern(10_000))), "create")
	must(t, second(s.PutFrom(ctx, "dir/stream", strings.NewReader(pattern(9<<20)), 9<<20)), "put a stream")
	must(t, s.AddLines(ctx, "dir/lines", []string{"one"}, nil), "add a line")
	must(t, s.AddLines(ctx, "dir/lines", []string{"two"}, nil), "add another line")
	for _, key := range []store.Key{"dir/put", "dir/create", "dir/stream", "dir/lines"} {
		path, ok := s.LocalPath(key)
		if !ok {
			return
		}
		if pages, known := dirtyPages(path); known && pages > 0 {
			t.Errorf("%d pages of %s wait to be written to disk after the write returned", pages, key)
		}
	}
}
