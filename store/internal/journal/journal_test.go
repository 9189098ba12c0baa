package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func openTest(t *testing.T, dir string) (*File, []json.RawMessage) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	j, records, err := Open(root, "j")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, records
}

func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	j, _ := openTest(t, dir)
	for i := range 3 {
		if err := j.Append(map[string]int{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	whole, err := os.ReadFile(filepath.Join(dir, "j"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)-4]++
	for cut := range len(whole) + 2 {
		body, want := whole[:min(cut, len(whole))], min(cut, len(whole))*3/len(whole)
		if cut == len(whole)+1 {
			body, want = flipped, 2
		}
		if err := os.WriteFile(filepath.Join(dir, "j"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		j, records := openTest(t, dir)
		if len(records) != want {
			t.Errorf("of %d bytes %d records are left, want %d", cut, len(records), want)
		}
		if err := errors.Join(j.Append(map[string]int{"n": 9}), j.Close()); err != nil {
			t.Fatal(err)
		}
		j, records = openTest(t, dir)
		if last := records[len(records)-1]; len(records) != want+1 || string(last) != `{"n":9}` {
			t.Errorf("after %d bytes and one more record: %s", cut, records)
		}
		j.Close()
	}
}

func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	j, _ := openTest(t, dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, _, err := Open(root, "j"); !errors.Is(err, ErrLocked) {
		t.Errorf("a second owner: %v", err)
	}
	if err := errors.Join(j.Append("x"), j.Remove(), j.Remove(), j.Close()); err != nil {
		t.Error(err)
	}
	again, records, err := Open(root, "j")
	if err != nil || len(records) != 0 {
		t.Errorf("after removal: %s, %v", records, err)
	}
	if err := errors.Join(again.Append(1), again.Clear(), again.Append(2), again.Close()); err != nil {
		t.Error(err)
	}
	if _, records := openTest(t, dir); fmt.Sprintf("%s", records) != "[2]" {
		t.Errorf("after clearing: %s", records)
	}
}
