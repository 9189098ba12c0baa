package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

func TestCopyKnowsWhetherItChanged(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	from := runner.WorkspaceDir{From: t.TempDir()}
	for name, text := range map[string]string{".gitignore": "out/\n", "a": "1"} {
		if err := os.WriteFile(filepath.Join(from.From, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewKeeper(s, nil).KeepDir(t.Context(), &from); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(dir string) error
		want   bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"content": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644) }, true},
		"mode":    {func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o600) }, true},
		"removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, true},
		"ignored": {func(dir string) error { return os.Mkdir(filepath.Join(dir, "out"), 0o755) }, true},
		"cache":   {func(dir string) error { return os.Mkdir(filepath.Join(dir, "__pycache__"), 0o755) }, false},
		"all":     {os.RemoveAll, true},
		"closed":  {func(dir string) error { return os.Mkdir(filepath.Join(dir, "shut"), 0o500) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			laid, err := NewCopy(t.Context(), s, []runner.WorkspaceDir{from}, filepath.Join(t.TempDir(), "copy"))
			if err == nil {
				err = c.change(laid.Dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := laid.Changed(t.Context()); got != c.want {
				t.Errorf("changed: %v", got)
			}
			if err := laid.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}
