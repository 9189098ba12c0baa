package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestReplicaExit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "exit.json")
	if _, err := ReadReplicaExit(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	at := time.Date(2026, 11, 20, 1, 2, 3, 4, time.UTC)
	want := ReplicaExit{
		Role: "a", Replica: 1, Attempt: 2, State: tracker.Failed, ExitCode: 137, Signal: "SIGKILL", Host: "h", PID: 9,
		Started: at, Ended: at.Add(time.Second), LogDir: "/l", Error: "no",
	}
	for range 2 { // the second replaces the first
		if err := WriteReplicaExit(file, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadReplicaExit(file); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	const golden = `{"role":"a","replica":1,"attempt":2,"state":"FAILED","exit_code":137,"signal":"SIGKILL","host":"h","pid":9,` +
		`"started":"2026-11-20T01:02:03.000000004Z","ended":"2026-11-20T01:02:04.000000004Z","log_dir":"/l","error":"no"}` + "\n"
	if body, _ := os.ReadFile(file); string(body) != golden {
		t.Errorf("got %s", body)
	}
	want.Error = "s3://u:hunter22secret@b/k is away"
	if err := WriteReplicaExit(file, want); err != nil {
		t.Fatal(err)
	}
	if body, _ := os.ReadFile(file); strings.Contains(string(body), "hunter22secret") {
		t.Errorf("a secret is on disk: %s", body)
	}
	if err := os.WriteFile(file, []byte(`{"role":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReplicaExit(file); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("half a record: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
