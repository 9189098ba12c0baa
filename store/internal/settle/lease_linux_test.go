package settle

import (
	"os"
	"testing"
	"time"
)

// A lease tells who writes, however long ago the file was changed, and is given
// back: who opens the file for writing afterwards does not wait.
func TestWriters(t *testing.T) {
	j, f, now := judged(t, "f")
	if state := writers(f); state != closed {
		t.Skipf("the file system gives no leases: %v", state)
	}
	w, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(24 * time.Hour)
	if got := j.Busy("f", f, IdentityOf(info), true); got != "it is open for writing" {
		t.Errorf("while it is open: %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if state := writers(f); state != closed {
		t.Errorf("after its close: %v", state)
	}
	// The close was seen, and stillness need not tell.
	*now = now.Add(-24 * time.Hour).Add(2 * tick)
	j.Begin()
	if got := j.Busy("f", f, IdentityOf(info), false); got != "" {
		t.Errorf("once it was closed: %q", got)
	}
}
