package dataset_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
)

// spoil changes, cuts off or adds bytes at random.
func spoil(random *rand.Rand, body []byte) []byte {
	body = slices.Clone(body)
	if len(body) == 0 {
		return []byte{byte(random.IntN(256))}
	}
	at := random.IntN(len(body))
	switch random.IntN(6) {
	case 0:
		return body[:at]
	case 1:
		return append(body[:at], body[min(at+1+random.IntN(8), len(body)):]...)
	case 2:
		return slices.Insert(body, at, byte(random.IntN(256)))
	case 3:
		body[at] ^= 1 << random.IntN(8)
	case 4:
		if last := len(body) - 1 - random.IntN(min(len(body), 600)); last >= 0 { // where the footer is
			at = last
		}
		body[at] = byte(random.IntN(256)) ^ body[at] | 1
	default:
		body[at] += byte(1 + random.IntN(255))
	}
	return body
}

// TestDamagedDataset damages any file of a dataset of ours, the manifest
// included: reading all data finds it.
func TestDamagedDataset(t *testing.T) {
	s := openStore(t, "mem://", nil)
	d := stage(t, s, spec())
	dir := d.Commit.Splits[dataset.Train].Dir
	files := keys(t, s, string(dir))
	random := rand.New(rand.NewPCG(1, 2))
	pinned := d.Commit.Splits[dataset.Train].ManifestSHA256
	files = slices.DeleteFunc(files, func(key string) bool { return strings.HasSuffix(key, dataset.SuccessName) }) // empty
	found, changed := 0, 0
	for trial := range storetest.Rounds(2000) {
		key := store.Key(files[random.IntN(len(files))])
		whole, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		spoilt := spoil(random, whole)
		if slices.Equal(spoilt, whole) {
			continue
		}
		changed++
		put(t, s, key, string(spoilt))
		report, err := dataset.Check(t.Context(), s, dir, &dataset.CheckOptions{ReadData: true, Manifest: pinned})
		if err != nil {
			t.Fatal(err)
		}
		readErr := readAll(t, s, dir)
		if len(report.Findings) > 0 {
			found++
		} else {
			t.Errorf("trial %d: %s was damaged, and nothing was found (read: %v)", trial, key, readErr)
		}
		if readErr == nil && !strings.HasSuffix(string(key), dataset.ManifestName) {
			t.Errorf("trial %d: %s was damaged, and read without an error", trial, key)
		}
		put(t, s, key, string(whole))
	}
	t.Logf("%d of %d damages were found", found, changed)
}

// TestDamagedForeignFiles damages files of others, which hold no checksums but
// where their writer was asked for some: reading must end with an error that
// names the file, or with rows, never a crash or without an end; where there are
// checksums, with no other values.
func TestDamagedForeignFiles(t *testing.T) {
	python := foreignPython(t)
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/small.py", root).CombinedOutput(); err != nil {
		t.Fatalf("write the files: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(root, "*.parquet"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	s := openStore(t, "mem://", nil)
	random := rand.New(rand.NewPCG(3, 4))
	refused, same, others := 0, 0, 0
	for range storetest.Rounds(2000) {
		path := files[random.IntN(len(files))]
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		key := store.Key("f/" + filepath.Base(path))
		put(t, s, key, string(whole))
		want, err := contents(t, s, key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, key, string(spoil(random, whole)))
		got, err := contents(t, s, key)
		switch {
		case err != nil && !strings.Contains(err.Error(), string(key)):
			t.Errorf("the error does not name %s: %v", key, err)
		case err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrUnsupported):
			t.Errorf("%s: %v", key, err)
		case err != nil:
			refused++
		case got == want:
			same++
		default:
			others++
		}
	}
	t.Logf("%d refused, %d read as before, %d read otherwise", refused, same, others)
}

// contents reads a file as text.
func contents(t *testing.T, s *store.Store, key store.Key) (string, error) {
	r, err := dataset.Open(t.Context(), s, key)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for batch, err := range r.Batches(t.Context(), nil) {
		if err != nil {
			return "", err
		}
		text.WriteString(mustJSON(t, batch))
	}
	return text.String(), nil
}
