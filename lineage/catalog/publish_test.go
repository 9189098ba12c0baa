package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func TestUnchangedIndexIsNotPublished(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 10)
	first := w.publish(nil)
	if first.Unchanged || first.Manifest.Number != 1 {
		t.Fatalf("first publication: %+v", first)
	}
	before := w.keys()
	again := w.publish(nil)
	if !again.Unchanged || again.Manifest.Number != 1 || !slices.Equal(w.keys(), before) {
		t.Errorf("nothing changed, and there is now %v", w.keys())
	}
	w.describe(20)
	if third := w.publish(nil); third.Unchanged || third.Manifest.Number != 2 || w.check().Number != 2 {
		t.Errorf("one run more: %+v", third)
	}
	w.stage(runID(3), "clicks@7")
	if fourth := w.publish(nil); fourth.Unchanged {
		t.Error("one dataset more was not published")
	}
}

func TestEmptyRootIsPublished(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.publish(nil)
	view := w.view()
	for name, counts := range view.Counts {
		if slices.Max(counts) != 0 {
			t.Errorf("table %s has %v rows", name, counts)
		}
	}
}

// TestRequests holds each call to the requests that docs/costs.md promises.
func TestRequests(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 10)
	count := func(what string, want int64, do func()) {
		t.Helper()
		before := w.store.Stats().Total()
		do()
		if got := w.store.Stats().Total() - before; got != want {
			t.Errorf("%s: %d requests, want %d", what, got, want)
		}
	}
	content := catalog.Content{Index: w.index}
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	publish := func() {
		t.Helper()
		_, err := catalog.Publish(t.Context(), w.store, content, nil)
		w.must(err)
	}
	tables := int64(len(catalog.Tables()))
	count("first publication", 1+1+tables+1+4+1, publish) // listing, claim, tables, manifest, look at two pointers and put them, listing
	count("nothing changed", 1+1+2, publish)              // listing, manifest, look at two pointers
	w.describe(11)
	_, err := w.index.Refresh(t.Context())
	w.must(err)
	count("second publication", 2+1+tables+1+4+1, publish)
	count("fill", 3, func() { // latest.json, the end of the records, the records
		_, n, err := catalog.Fill(t.Context(), w.store, w.newIndex())
		if err != nil || n != 11 {
			t.Errorf("%d runs filled, error %v", n, err)
		}
	})
}

// publishers each have a store and an index of their own.
func publishers(t *testing.T, url string, n int) []*world {
	t.Helper()
	list := make([]*world, n)
	for i := range list {
		list[i] = newWorld(t, open(t, url, nil))
	}
	return list
}

func TestManyPublishLocal(t *testing.T) { manyPublish(t, t.TempDir()) }

func TestManyPublishS3(t *testing.T) { manyPublish(t, servers.MinIO(t).URL("many")) }

// manyPublish lets many publish at once, each time something new. Each gets a number of its own and makes it whole; the
// pointers end at the highest.
func manyPublish(t *testing.T, url string) {
	const n, rounds = 6, 3
	list := publishers(t, url, n)
	list[0].random(2, 8)
	numbers := map[int64]int{}
	for round := range rounds {
		list[0].describe(100 + round)
		errs := make([]error, n)
		done := make([]*catalog.Published, n)
		var wg sync.WaitGroup
		for i, w := range list {
			wg.Go(func() { done[i], errs[i] = w.tryPublish(nil) })
		}
		wg.Wait()
		highest := int64(0)
		for i := range list {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if !done[i].Unchanged {
				numbers[done[i].Manifest.Number]++
			}
			highest = max(highest, done[i].Manifest.Number)
			list[i].checkTables(done[i].Manifest)
		}
		if m := list[0].check(); m.Number != highest {
			t.Errorf("round %d: latest.json tells of version %d, the highest is %d", round, m.Number, highest)
		}
		views, err := list[0].store.Get(t.Context(), "heirloom/catalog/views.sql")
		if want := fmt.Sprintf("-- heirloom catalog, version %d\n", highest); err != nil || !strings.HasPrefix(string(views), want) {
			t.Errorf("round %d: views.sql begins %.60q, want %q, error %v", round, views, want, err)
		}
	}
	for number, times := range numbers {
		if times > 1 {
			t.Errorf("version %d was published %d times", number, times)
		}
	}
}

// A publisher that stands still before its last step, and is reclaimed as one that died, learns of it.
func TestStalledPublisher(t *testing.T) {
	dir := t.TempDir()
	good := newWorld(t, open(t, dir, nil))
	good.random(3, 6)
	good.publish(nil)
	good.describe(50)
	stalled := newWorld(t, open(t, dir, &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
		if r.Op == "create" && strings.HasSuffix(r.Key, "2/manifest.json") {
			if _, err := catalog.Prune(context.WithoutCancel(ctx), good.store, catalog.Policy{Now: true}, later(), false); err != nil {
				t.Error(err)
			}
		}
		return do()
	}}))
	if _, err := stalled.tryPublish(nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the stalled publisher is told %v, want ErrConflict", err)
	}
	if m := good.check(); m.Number != 1 {
		t.Errorf("version %d is visible, want 1", m.Number)
	}
	if want := "00000000000000000002/manifest.json"; !has(good.keys(), want) || has(good.keys(), "00000000000000000002/claim.json") {
		t.Errorf("left: %v, want only %s of version 2", good.keys(), want)
	}
	if done := good.publish(nil); done.Manifest.Number != 3 {
		t.Errorf("the next version is %d, want 3", done.Manifest.Number)
	}
}

// One that is slow to move the pointers does not move them back.
func TestPointersNeverGoBack(t *testing.T) {
	for name, url := range map[string]string{"local": t.TempDir(), "s3": servers.MinIO(t).URL("pointers")} {
		t.Run(name, func(t *testing.T) {
			good := newWorld(t, open(t, url, nil))
			good.random(3, 6)
			good.publish(nil)
			good.describe(55)
			overtaken := false
			slow := newWorld(t, open(t, url, &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
				if !overtaken && (r.Op == "put" || r.Op == "create") && strings.HasSuffix(r.Key, "latest.json") {
					overtaken = true
					good.describe(60)
					if done := good.publish(nil); done.Manifest.Number != 3 {
						t.Errorf("overtaken by version %d", done.Manifest.Number)
					}
				}
				return do()
			}}))
			if _, err := slow.tryPublish(nil); err != nil {
				t.Fatal(err)
			}
			if m := good.check(); m.Number != 3 || !overtaken {
				t.Errorf("latest.json tells of version %d, want 3", m.Number)
			}
		})
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 5)
	m := w.publish(nil).Manifest
	body := fmt.Sprintf(`{"version": 2, "number": %d, "tables": {"anything": "else"}%s}`, m.Number, strings.Repeat(" ", 600))
	for _, key := range []store.Key{"heirloom/catalog/latest.json", "heirloom/catalog/00000000000000000001/manifest.json"} {
		w.must(w.store.Put(t.Context(), key, []byte(body)))
	}
	_, err := catalog.Newest(t.Context(), w.store)
	if !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), "newer heirloom") {
		t.Errorf("read: %v, want ErrUnsupported", err)
	}
	x := w.newIndex()
	if _, _, err := catalog.Fill(t.Context(), w.store, x); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("fill: %v, want ErrUnsupported", err)
	}
	w.describe(9)
	before := w.keys()
	if _, err := w.tryPublish(nil); !errors.Is(err, store.ErrUnsupported) || !slices.Equal(w.keys(), before) {
		t.Errorf("publish: %v, want ErrUnsupported and nothing new", err)
	}
}

// Records of a newer form are passed over; the tables can be read.
func TestNewerRecordsAreRefused(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 5)
	m := w.publish(nil).Manifest
	m.Index.Version++
	body, err := json.Marshal(m)
	w.must(err)
	w.must(w.store.Put(t.Context(), "heirloom/catalog/latest.json", body))
	if _, _, err := catalog.Fill(t.Context(), w.store, w.newIndex()); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("fill: %v, want ErrUnsupported", err)
	}
	w.check()
}

func TestDamagedPointersAreMended(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 5)
	w.publish(nil)
	for name, damage := range map[string]func(key store.Key) error{
		"gone":    func(key store.Key) error { return w.store.Delete(t.Context(), key) },
		"damaged": func(key store.Key) error { return w.store.Put(t.Context(), key, []byte("{")) },
		"stale":   func(key store.Key) error { return w.store.Put(t.Context(), key, []byte(`{"version":1,"number":0}`)) },
	} {
		for _, key := range []store.Key{"heirloom/catalog/latest.json", "heirloom/catalog/views.sql"} {
			w.must(damage(key))
		}
		if m := w.check(); m.Number != 1 {
			t.Errorf("%s: version %d, want 1", name, m.Number)
		}
		if done := w.publish(nil); !done.Unchanged {
			t.Errorf("%s: published again", name)
		}
		for _, key := range []store.Key{"heirloom/catalog/latest.json", "heirloom/catalog/views.sql"} {
			if body, err := w.store.Get(t.Context(), key); err != nil || len(body) < 100 {
				t.Errorf("%s: %s is %.40q, error %v", name, key, body, err)
			}
		}
	}
}

func TestOldVersionsGoAfterGrace(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(1, 5)
	for i := range 5 {
		w.describe(100 + i)
		w.publish(nil)
	}
	numbers := func() (list []int64) {
		entries, err := catalog.List(t.Context(), w.store)
		w.must(err)
		for _, e := range entries {
			list = append(list, e.Number)
		}
		return list
	}
	if got := numbers(); !slices.Equal(got, []int64{1, 2, 3, 4, 5}) {
		t.Fatalf("versions %v", got)
	}
	for _, dry := range []bool{true, false} {
		gone, err := catalog.Prune(t.Context(), w.store, catalog.Policy{}, time.Now().Add(25*time.Hour), dry)
		if err != nil || len(gone) != 3 || gone[0].Number != 1 || gone[0].Bytes == 0 {
			t.Errorf("dry %v: reclaimed %+v, error %v, want three", dry, gone, err)
		}
	}
	if got := numbers(); !slices.Equal(got, []int64{4, 5}) {
		t.Errorf("versions %v, want the two newest", got)
	}
	w.describe(200)
	done := w.publish(&catalog.Options{Policy: catalog.Policy{Now: true, Keep: 1}})
	if got := numbers(); !slices.Equal(got, []int64{6}) || len(done.Reclaimed) != 2 {
		t.Errorf("versions %v, reclaimed %+v, want the newest", got, done.Reclaimed)
	}
	w.check()
}

// Who may not delete publishes all the same, and is told that older versions stay.
func TestPublisherWhoMayNotDelete(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if r.Op == "delete" {
			return &store.Error{Op: "delete", Key: r.Key, Kind: store.ErrPermission}
		}
		return do()
	}}))
	w.random(1, 5)
	w.publish(nil)
	w.describe(9)
	done := w.publish(&catalog.Options{Policy: catalog.Policy{Now: true, Keep: 1}})
	if !errors.Is(done.Kept, store.ErrPermission) || len(done.Reclaimed) > 0 || w.check().Number != 2 {
		t.Errorf("%+v", done)
	}
}

func TestFilledFromCatalog(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(5, 20)
	w.publish(nil)
	w.describe(33)
	x := w.newIndex()
	m, n, err := catalog.Fill(t.Context(), w.store, x)
	if err != nil || n != 20 || m.Number != 1 {
		t.Fatalf("%d runs of version %v, error %v", n, m, err)
	}
	done, err := x.Refresh(t.Context())
	if err != nil || done.Read != 1 || done.Listed != 21 {
		t.Errorf("%+v, error %v, want one run read of 21", done, err)
	}
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.digestOf(x), w.digestOf(w.index); got != want {
		t.Error("the index that was filled is another than the one that was read")
	}
}

// A table that is damaged leaves the index as one that was never refreshed.
func TestDamagedRecordsAreNoRefresh(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(5, 20)
	m := w.publish(nil).Manifest
	key := catalog.Root(w.store.Layout()).Join(m.Table("records").File.Name)
	body, err := w.store.Get(t.Context(), key)
	w.must(err)
	body[len(body)/3] ^= 1
	w.must(w.store.Put(t.Context(), key, body))
	x := w.newIndex()
	if _, _, err := catalog.Fill(t.Context(), w.store, x); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error %v, want ErrCorrupt", err)
	}
	if asOf, err := x.AsOf(t.Context()); err != nil || !asOf.IsZero() {
		t.Errorf("as of %v, error %v, want never", asOf, err)
	}
	done, err := x.Refresh(t.Context())
	if err != nil || done.Listed != 20 {
		t.Errorf("%+v, error %v", done, err)
	}
}

// Without its newest version, latest.json leads to the one before.
func TestStaleLatest(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.random(5, 8)
	w.publish(nil)
	stale, err := w.store.Get(t.Context(), "heirloom/catalog/latest.json")
	w.must(err)
	w.describe(40)
	w.publish(&catalog.Options{Policy: catalog.Policy{Now: true, Keep: 1}}) // and version 1 is gone
	w.must(w.store.Put(t.Context(), "heirloom/catalog/latest.json", stale))
	m, n, err := catalog.Fill(t.Context(), w.store, w.newIndex())
	if err != nil || n != 9 || m.Number != 2 {
		t.Errorf("%d runs of %v, error %v, want 9 of version 2", n, m, err)
	}
}
