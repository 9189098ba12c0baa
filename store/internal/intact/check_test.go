package intact_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/intact"
)

// whole gives a complete file of each format, by its name.
func whole(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{
		"w.parquet":                      append([]byte("PAR1....footer"), 6, 0, 0, 0, 'P', 'A', 'R', '1'),
		"model.safetensors":              safetensors(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"k":"v"}}`, 8),
		"model.safetensors.index.json":   []byte("{\"weight_map\": {\"a\": \"x\\\"}\"}, \"loss\": NaN}\n"),
		"step/v0.h5":                     superblock(0, 13, 24, 300),
		"v2.hdf5":                        superblock(2, 9, 12, 300),
		"behind-user-block.h5":           append(make([]byte, 512), superblock(3, 9, 12, 1000)...),
		"named-otherwise-but-parquet":    append([]byte("PAR1....footer"), 6, 0, 0, 0, 'P', 'A', 'R', '1'),
		"empty-of-tensors.safetensors":   safetensors(`{}`, 0),
		"skippable-frame.zst":            {0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'},
		"upper-case/MODEL.SAFETENSORS":   safetensors(`{}`, 0),
		`windows\path\model.safetensors`: safetensors(`{}`, 0),
	}
	var z, g bytes.Buffer
	archive := zip.NewWriter(&z)
	entry, err := archive.Create("data.pkl")
	check(t, err)
	_, err = entry.Write(bytes.Repeat([]byte("weights"), 100))
	check(t, err)
	check(t, archive.Close())
	files["m.pt"], files["a.npz"], files["checkpoint"] = z.Bytes(), z.Bytes(), z.Bytes()
	gz := gzip.NewWriter(&g)
	_, err = gz.Write(bytes.Repeat([]byte("line\n"), 1000))
	check(t, err)
	check(t, gz.Close())
	files["log.gz"] = g.Bytes()
	one, two := zstdFrames()
	files["sum.zst"], files["window.zst"] = one, two
	return files
}

// zstdFrames are one of a single segment with a sum, and one with a window and a
// block of each kind.
func zstdFrames() (one, two []byte) {
	const magic = "\x28\xb5\x2f\xfd"
	one = []byte(magic + "\x24\x03" + "\x19\x00\x00abc" + "SUM!")
	two = []byte(magic + "\x00\x58" + "\x18\x00\x00abc" + "\x22\x03\x00z" + "\x25\x00\x00pack")
	return one, two
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func safetensors(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

// superblock is an HDF5 file of size bytes that tells of as many.
func superblock(version byte, widthAt, first, size int) []byte {
	b := make([]byte, size)
	copy(b, "\x89HDF\r\n\x1a\n")
	b[8], b[widthAt] = version, 8
	end := size
	if size == 1000 {
		end += 512 // behind a block of the user's
	}
	binary.LittleEndian.PutUint64(b[first+16:], uint64(end))
	return b
}

// Every file is whole, and none of its beginnings is.
func TestBeginnings(t *testing.T) {
	for name, body := range whole(t) {
		if err := intact.Check(name, bytes.NewReader(body), int64(len(body))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		last := len(body)
		for last > 0 && body[last-1] == '\n' { // the last bracket is the end
			last--
		}
		step := max(1, len(body)/2000)
		for n := last - 1; n > 8; n -= step {
			if err := intact.Check(name, bytes.NewReader(body[:n]), int64(n)); !errors.Is(err, intact.ErrIncomplete) {
				t.Errorf("%s: the first %d of %d bytes: %v", name, n, len(body), err)
				break
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		whole      bool
	}{
		{"notes.txt", "", true},
		{"notes.txt", "half a li", true},
		{"pickled.pt", "\x80\x02.", true},
		{"empty.pt", "", false},
		{"empty.ckpt", "", false},
		{"empty.json", "", false},
		{"blank.json", " \n", false},
		{"number.json", "12", true},
		{"lines.json", "{}\n{}\n", true},
		{"cut.json", `{"a": "}`, false},
		{"reserved.json", "{}\x00\x00", false},
		{"zeros.npz", "\x00\x00\x00\x00", false},
		{"zeros.h5", string(make([]byte, 4096)), false},
		{"open.h5", string(append(superblock(0, 13, 24, 2048), make([]byte, 1<<20)...)), false},
		{"longer.safetensors", string(safetensors(`{}`, 1)), false},
		{"huge.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff", false},
		{"odd.safetensors", string(safetensors(`{"a":[]}`, 0)), false},
		{"sparse.parquet", "PAR1\x00\x00\x00\x00PAR1", false},
		{"text.zst", "text, not frames", false},
		{"text.gz", "text, not gzip", false},
	} {
		err := intact.Check(c.name, bytes.NewReader([]byte(c.body)), int64(len(c.body)))
		if (err == nil) != c.whole || err != nil && !errors.Is(err, intact.ErrIncomplete) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// What cannot be read is not said to be incomplete; what shrank is.
func TestReadErrors(t *testing.T) {
	body := whole(t)["m.pt"]
	broken := errors.New("the disk broke")
	if err := intact.Check("m.pt", failing{broken}, int64(len(body))); !errors.Is(err, broken) || errors.Is(err, intact.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
	if err := intact.Check("m.pt", bytes.NewReader(body[:20]), int64(len(body))); !errors.Is(err, intact.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func FuzzCheck(f *testing.F) {
	for name, body := range whole(f) {
		f.Add(name, body)
		f.Add(name, body[:len(body)/2])
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		seen := &bounded{r: bytes.NewReader(body), size: int64(len(body))}
		err := intact.Check(name, seen, int64(len(body)))
		if err != nil && !errors.Is(err, intact.ErrIncomplete) {
			t.Errorf("%q: %v", name, err)
		}
		if seen.beyond {
			t.Errorf("%q: read outside of the file", name)
		}
	})
}

// bounded notes reads that begin outside of a file.
type bounded struct {
	r      io.ReaderAt
	size   int64
	beyond bool
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	b.beyond = b.beyond || off < 0 || off > b.size
	if off < 0 {
		return 0, io.EOF
	}
	return b.r.ReadAt(p, off)
}
