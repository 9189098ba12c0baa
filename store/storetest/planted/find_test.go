package planted

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestFind looks for each form of each secret among others, in bytes and in a name.
func TestFind(t *testing.T) {
	secrets := Many(rand.New(rand.NewPCG(1, 2)), 0, Kinds())
	for _, s := range secrets {
		dir := t.TempDir()
		files := map[string]string{"innocent": "nothing"}
		for i, form := range forms(s.Hidden[0]) {
			files[strconv.Itoa(i)] = "before " + form + " after"
		}
		if name := forms(s.Hidden[0])[8]; len(name) <= 255 { // in hexadecimal, which any name may hold
			files[name] = ""
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := Find(dir, secrets)
		if err != nil || len(found) != len(files)-1 {
			t.Errorf("%s: %d of %d files are told, %v: %q", s.Kind, len(found), len(files)-1, err, found)
		}
	}
}
