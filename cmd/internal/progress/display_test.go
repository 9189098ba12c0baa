package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// play shows a transfer of 10 seconds with an update every 10 ms.
func play(t *testing.T, mode Mode, width int) (string, Summary) {
	var out bytes.Buffer
	var sum Summary
	synctest.Test(t, func(*testing.T) {
		d := New(&out, mode, func() int { return width })
		for i := 1; i <= 1000; i++ {
			time.Sleep(10 * time.Millisecond)
			d.Update(store.Progress{Files: i / 500, FilesTotal: 2, Bytes: int64(i) << 20, BytesTotal: 1000 << 20, Resumed: 100 << 20, Rate: 100 << 20,
				ETA: time.Duration(1000-i) * 10 * time.Millisecond})
		}
		sum = d.Close()
	})
	return out.String(), sum
}

func TestLine(t *testing.T) {
	out, _ := play(t, Line, 40)
	frames := strings.Split(out, "\r")[1:]
	if len(frames) != 101 { // ten a second, and the last wipes
		t.Errorf("%d frames", len(frames))
	}
	for _, frame := range frames {
		text, ok := strings.CutSuffix(frame, "\x1b[K")
		if !ok || len(text) > 39 {
			t.Errorf("frame %q", frame)
		}
	}
	if !strings.HasPrefix(frames[49], " 50%  500.0 MiB of 1000.0 MiB  100.0 Mi") {
		t.Errorf("frame %q", frames[49])
	}
	if frames[100] != "\x1b[K" {
		t.Errorf("the line is left standing: %q", frames[100])
	}
}

func TestPlain(t *testing.T) {
	out, sum := play(t, Plain, 0)
	want := " 50%  500.0 MiB of 1000.0 MiB  100.0 MiB/s  5s left  1 of 2 files\n" +
		"100%  1000.0 MiB of 1000.0 MiB  100.0 MiB/s  2 of 2 files\n"
	if out != want {
		t.Errorf("got\n%s", out)
	}
	if got := sum.String(); got != "2 files, 1000.0 MiB in 10.0 s (90.0 MiB/s); resumed: 100.0 MiB were there already" {
		t.Errorf("summary %q", got)
	}
}

func TestJSON(t *testing.T) {
	out, _ := play(t, JSON, 0)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 11 {
		t.Fatalf("%d lines", len(lines))
	}
	var first, last report
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &first), json.Unmarshal([]byte(lines[10]), &last)); err != nil {
		t.Fatal(err)
	}
	if first.Bytes != 100<<20 || first.Done || first.ETA == nil || *first.ETA != 9 {
		t.Errorf("first %+v", first)
	}
	if last.Files != 2 || !last.Done || last.ETA != nil {
		t.Errorf("last %+v", last)
	}
}

func TestNothingIsShown(t *testing.T) {
	if out, _ := play(t, None, 0); out != "" {
		t.Errorf("got %q", out)
	}
}

func TestSeveralTransfersAreOne(t *testing.T) {
	d := New(&bytes.Buffer{}, None, nil)
	for range 3 {
		d.Update(store.Progress{Files: 1, FilesTotal: 1, Bytes: 10, BytesTotal: 10})
		d.Next()
	}
	if sum := d.Close(); sum.Files != 3 || sum.Bytes != 30 {
		t.Errorf("got %+v", sum)
	}
}

func TestModes(t *testing.T) {
	for text, want := range map[string][2]Mode{"": {Line, None}, "auto": {Line, None}, "plain": {Plain, Plain}, "json": {JSON, JSON}, "none": {None, None}} {
		m, err := ParseMode(text)
		if err != nil || m.On(true) != want[0] || m.On(false) != want[1] {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	for _, text := range []string{"line", "AUTO", "x"} {
		if _, err := ParseMode(text); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
