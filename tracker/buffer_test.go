package tracker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// records counts the metadata records of a run.
func records(t *testing.T, s *store.Store, run tracker.RunID) int {
	t.Helper()
	n := 0
	for _, err := range s.List(t.Context(), key(run, "metadata")+"/") {
		check(t, err)
		n++
	}
	return n
}

// TestAppRunCoalesces reports every step of a long job, and loses none.
func TestAppRunCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", nil)
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: time.Now}) // a clock of its own, since time stands elsewhere here
		run := tracker.NewAppRun(runA, tr)
		const steps = 3000
		for i := range steps {
			check(t, run.AddMetrics(t.Context(), int64(i), map[string]float64{"loss": 1 / float64(i+1)}))
			check(t, run.AddMetadata(t.Context(), object("epoch", int64(i/1000))))
			time.Sleep(10 * time.Millisecond) // of the test's own time: half a minute in all
		}
		check(t, run.Close())
		if n := records(t, s, runA); n < 5 || n > 9 {
			t.Errorf("%d records of half a minute, want about one each five seconds", n)
		}
		series, err := tr.Series(t.Context(), runA)
		check(t, err)
		if len(series["loss"]) != steps {
			t.Fatalf("%d points, want %d", len(series["loss"]), steps)
		}
		for i, p := range series["loss"] {
			if p.Step != int64(i) || p.Value != 1/float64(i+1) || p.Time.IsZero() {
				t.Fatalf("point %d is %+v", i, p)
			}
		}
		history, err := tr.History(t.Context(), runA, "epoch")
		check(t, err)
		if len(history) != steps {
			t.Fatalf("%d values of epoch, want %d", len(history), steps)
		}
		for i, c := range history {
			if c.Value != int64(i/1000) || c.Time.IsZero() || i > 0 && c.Time.Before(history[i-1].Time.Add(-time.Microsecond)) {
				t.Fatalf("value %d is %+v after %+v", i, c, history[max(i-1, 0)])
			}
		}
		m, err := tr.Metadata(t.Context(), runA)
		check(t, err)
		if got := dump(t, m); got != fmt.Sprintf(`{"metrics.loss": %s, "epoch": 2}`, dump(t, 1/float64(steps))) {
			t.Errorf("metadata is %s", got)
		}
	})
}

// TestAppRunFirstReport is recorded when the call returns, those that follow
// within five seconds.
func TestAppRunFirstReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", nil)
		run := tracker.NewAppRun(runA, tracker.NewFileTracker(s, nil))
		defer run.Close()
		check(t, run.AddMetadata(t.Context(), object("a", 1)))
		if n := records(t, s, runA); n != 1 {
			t.Errorf("%d records after the first report", n)
		}
		check(t, run.AddMetadata(t.Context(), object("a", 2)))
		if n := records(t, s, runA); n != 1 {
			t.Errorf("%d records after the second", n)
		}
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		if n := records(t, s, runA); n != 2 {
			t.Errorf("%d records five seconds later", n)
		}
		check(t, run.AddMetadata(t.Context(), object("a", 3)))
		check(t, run.Flush(t.Context()))
		if n := records(t, s, runA); n != 3 {
			t.Errorf("%d records after Flush", n)
		}
		check(t, run.Flush(t.Context()))
		if n := records(t, s, runA); n != 3 {
			t.Errorf("%d records after a Flush of nothing", n)
		}
	})
}

// TestAppRunSize writes before much waits.
func TestAppRunSize(t *testing.T) {
	s := openStore(t, "mem://", nil)
	run := tracker.NewAppRun(runA, tracker.NewFileTracker(s, nil))
	for i := range 5 {
		check(t, run.AddMetadata(t.Context(), object(fmt.Sprint(i), strings.Repeat("x", 300<<10))))
	}
	if n := records(t, s, runA); n != 5 {
		t.Errorf("%d records of 300 KiB each", n)
	}
	check(t, run.Close())
}

// TestAppRunOutage keeps what was reported while the store did not answer.
func TestAppRunOutage(t *testing.T) {
	down := true
	s := openStore(t, "mem://", &store.Options{MaxAttempts: 1, Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if down && r.Op == "put" {
			return fmt.Errorf("out: %w", store.ErrUnavailable)
		}
		return do()
	}})
	other := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	run := tracker.NewAppRun(runA, tr, tracker.NewFileTracker(other, nil))
	for i := range 3 {
		err := errors.Join(run.AddMetadata(t.Context(), object("n", int64(i))), run.Flush(t.Context()))
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("report %d: %v", i, err)
		}
	}
	if n := records(t, other, runA); n != 3 {
		t.Errorf("the tracker that answers has %d records", n)
	}
	down = false
	check(t, run.Close())
	history, err := tr.History(t.Context(), runA, "n")
	check(t, err)
	if m, err := tr.Metadata(t.Context(), runA); err != nil || dump(t, m) != `{"n": 2}` || len(history) != 3 {
		t.Errorf("metadata is %s, %d values, %v", dump(t, m), len(history), err)
	}
}

func TestReadMetrics(t *testing.T) {
	lines := `{"step": 1, "loss": 0.5, "time": 1763719200.5}
oops
{"step": 2, "val": {"loss": 1, "step": 7}, "time": "2025-11-21T10:00:00Z"}
{"loss": NaN, "text": "x", "ok": true}
{"loss": 0.`
	var got []string
	give := func(name string, p tracker.Point) {
		v, err := pyjson.Marshal(p.Value)
		check(t, err)
		got = append(got, fmt.Sprintf("%d %s=%s %s", p.Step, name, v, p.Time.Format(time.RFC3339Nano)))
	}
	bad, err := tracker.ReadMetrics(strings.NewReader(lines), give)
	check(t, err)
	none := "0001-01-01T00:00:00Z"
	same(t, "points", got, []string{"1 loss=0.5 2025-11-21T10:00:00.5Z", "2 val.loss=1 2025-11-21T10:00:00Z", "2 val.step=7 2025-11-21T10:00:00Z", "2 loss=NaN " + none})
	if bad != 1 {
		t.Errorf("%d bad lines", bad)
	}
	got = nil
	bad, err = tracker.ReadMetricsCSV(strings.NewReader("epoch,step,train_loss,val_loss\n0,9,0.5,\n0,19,,0.25\nx\n"), give)
	check(t, err)
	same(t, "points of a table", got, []string{"9 train_loss=0.5 " + none, "19 val_loss=0.25 " + none})
	if bad != 1 {
		t.Errorf("%d bad rows", bad)
	}
}

// TestSeriesSort is about a job that went on from step 2.
func TestSeriesSort(t *testing.T) {
	s := tracker.Series{}
	for _, p := range []tracker.Point{{Step: 1, Value: 1.0}, {Step: 2, Value: 2.0}, {Step: 3, Value: 3.0}, {Step: 2, Value: 2.5}, {Step: 3, Value: 3.5}, {Step: 4, Value: 4.5}} {
		s.Add("loss", p)
	}
	s.Sort()
	if got := fmt.Sprint(s["loss"]); len(s["loss"]) != 4 || s["loss"][1].Value != 2.5 || s["loss"][3].Value != 4.5 {
		t.Errorf("sorted: %s", got)
	}
}

func FuzzReadMetrics(f *testing.F) {
	f.Add("{\"step\": 1, \"loss\": 0.5}\nepoch,step\n")
	f.Fuzz(func(t *testing.T, text string) {
		check := func(name string, p tracker.Point) {
			if name == "" || p.Value == nil {
				t.Errorf("%q = %v", name, p.Value)
			}
		}
		if _, err := tracker.ReadMetrics(strings.NewReader(text), check); err != nil {
			t.Error(err)
		}
		if _, err := tracker.ReadMetricsCSV(strings.NewReader(text), check); err != nil {
			t.Error(err)
		}
	})
}
