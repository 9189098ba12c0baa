package checkpoint_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

// FuzzFind puts any bytes in the place of each file that is parsed: no panic, and no error but a reason.
func FuzzFind(f *testing.F) {
	for _, tr := range trees(f) {
		for i, name := range tr.order {
			f.Add(tr.name, i, tr.files[name])
		}
	}
	all := map[string]*tree{}
	for _, tr := range trees(f) {
		all[tr.name] = tr
	}
	f.Fuzz(func(t *testing.T, name string, i int, body []byte) {
		tr := all[name]
		if tr == nil || i < 0 || i >= len(tr.order) {
			return
		}
		s := open(t, "mem://")
		put(t, s, tr, tr.order[i], -1)
		check(t, s.Put(t.Context(), store.Key(tr.order[i]), body))
		find(t, s, "")
	})
}

func TestHostile(t *testing.T) {
	index := "checkpoints/step-1/model.safetensors.index.json"
	var many bytes.Buffer
	many.WriteString(`{"weight_map": {`)
	for i := range 1_000_000 {
		fmt.Fprintf(&many, `"t%d": "f%d",`, i, i%200_000)
	}
	many.WriteString(`"last": "f"}}`)
	for name, body := range map[string][]byte{
		"a way out":   []byte(`{"weight_map": {"w": "../x"}}`),
		"absolute":    []byte(`{"weight_map": {"w": "/etc/passwd"}}`),
		"control":     []byte("{\"weight_map\": {\"w\": \"a\\u001b[31m\"}}"),
		"no object":   []byte(`[1]`),
		"no files":    []byte(`{"weight_map": {"w": 1}}`),
		"a million":   many.Bytes(),
		"deep nested": []byte(strings.Repeat(`{"weight_map":`, 100_000)),
	} {
		s := open(t, "mem://")
		check(t, s.Put(t.Context(), store.Key(index), body))
		began := time.Now()
		list := find(t, s, "")
		if len(list) != 1 || list[0].Complete() {
			t.Errorf("%s: got %v", name, list)
		}
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// Links that lead in a circle are no directories.
func TestLinksInACircle(t *testing.T) {
	dir := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(dir, "checkpoints", "a"), 0o755))
	if err := os.Symlink("..", filepath.Join(dir, "checkpoints", "a", "up")); err != nil {
		t.Skip(err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "checkpoints", "a", "step-1.safetensors"), safetensors("w"), 0o644))
	list, err := checkpoint.Find(t.Context(), open(t, dir), "", nil)
	check(t, err)
	if len(list) != 1 || !list[0].Complete() {
		t.Errorf("got %v", list)
	}
}
