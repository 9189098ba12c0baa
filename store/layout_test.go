package store

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// horovodPath is where Horovod's Store keeps the run r1 in a store that was named as given, from the working
// directory /tmp, in the form that its file system takes; "" is an error.
type horovodPath struct {
	By, Given, Horovod, Heirloom, Exception string
}

// TestHorovodPaths holds our paths against those that Horovod's own code computes. Where they differ, the table names
// the defect, and each defect is known here.
func TestHorovodPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the table are those of Unix")
	}
	defects := map[string]bool{
		"relative path without a directory to be relative to": false,
		"scheme with one slash taken for a directory":         false,
		"bucket taken for a local directory":                  false,
		"no path at all":                                      false,
		"percent escapes become part of the directory's name": false,
		"scheme in capitals not known":                        false,
		"root of the file system refused":                     false,
		"two slashes, which name no path":                     false,
		"path outside of DBFS refused by its store":           false,
	}
	var paths []horovodPath
	if err := json.Unmarshal(golden(t, "horovod_paths.json"), &paths); err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		got := ourRunPath(p.Given)
		if got != p.Heirloom {
			t.Errorf("%s %q: the run is in %q, want %q", p.By, p.Given, got, p.Heirloom)
		}
		if _, known := defects[p.Exception]; (p.Exception != "") != (p.Horovod != p.Heirloom) || (p.Exception != "" && !known) {
			t.Errorf("%s %q: Horovod %q, we %q, exception %q", p.By, p.Given, p.Horovod, p.Heirloom, p.Exception)
		}
		defects[p.Exception] = true
	}
	for defect, seen := range defects {
		if !seen {
			t.Errorf("no row shows the defect %q", defect)
		}
	}
}

func ourRunPath(given string) string {
	root, err := CanonicalURI(given, "/tmp")
	if err != nil {
		return ""
	}
	l, err := NewLayout(&LayoutOptions{URL: root})
	if err != nil {
		return ""
	}
	return l.Remote("r1", -1).Localize().RunPath
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newTestLayout(t *testing.T, opts *LayoutOptions) Layout {
	t.Helper()
	l, err := NewLayout(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRemoteView(t *testing.T) {
	never := false
	overrides := &LayoutOptions{
		URL: "s3://b/p?endpoint=http://h:9000", TrainPath: "data/train", ValPath: "s3a://b/p/data/val/", TestPath: "held/out/",
		RunsPath: "experiments", CheckpointFilename: "model.pt",
	}
	for name, view := range map[string]RemoteView{
		"remote_default.json":   newTestLayout(t, &LayoutOptions{URL: "file:///tmp/x"}).Remote("r1", 0),
		"remote_local.json":     newTestLayout(t, &LayoutOptions{URL: "file:///tmp/x/"}).Remote("r1", -1).Localize(),
		"remote_overrides.json": newTestLayout(t, overrides).Remote("local://t/a-1", 3),
		"remote_unsaved.json":   newTestLayout(t, &LayoutOptions{URL: "dbfs:/a", SaveRuns: &never}).Remote("r1", -1),
	} {
		got, err := json.MarshalIndent(view, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if want := golden(t, name); string(got)+"\n" != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestLayoutKeys(t *testing.T) {
	l := newTestLayout(t, nil)
	for got, want := range map[Key]Key{
		l.TrainData(-1):                  "intermediate_train_data",
		l.TrainData(0):                   "intermediate_train_data.0",
		l.ValData(12):                    "intermediate_val_data.12",
		l.TestData(1):                    "intermediate_test_data.1",
		l.RunDir("r/1"):                  "runs/r%2F1",
		l.CheckpointPath("r1"):           "runs/r1/checkpoint.h5",
		l.CheckpointDir("r1"):            "runs/r1/checkpoints",
		l.LogsDir("r1", "trainer", 2, 1): "runs/r1/logs/trainer/2/1",
		l.LogsDir("r1", "../x", 0, 0):    "runs/r1/logs/%2E.%2Fx/0/0",
		l.Tracker():                      "tracker",
		l.Heirloom():                     "heirloom",
		Layout{}.RunDir("r"):             "runs/r",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := ParseKey(string(got)); err != nil {
			t.Error(err)
		}
	}
	if !l.SavesRuns() {
		t.Error("runs are not saved by default")
	}
}

// TestRunDirs finds what Horovod wrote under the id as it is. Its ids that lead elsewhere, an absolute path or
// "..", are defects that we do not follow.
func TestRunDirs(t *testing.T) {
	l := newTestLayout(t, nil)
	for run, want := range map[string][]Key{
		"r1":                 {"runs/r1"},
		"a b":                {"runs/a%20b", "runs/a b"},
		"local://torchx/a-1": {"runs/local%3A%2F%2Ftorchx%2Fa-1", "runs/local:/torchx/a-1"},
		"/etc":               {"runs/%2Fetc"},
		"../../etc":          {"runs/%2E.%2F..%2Fetc"},
		"a/../b":             {"runs/a%2F..%2Fb"},
		".":                  {"runs/%2E"},
		"":                   {"runs/%"},
	} {
		if got := l.RunDirs(run); !slices.Equal(got, want) {
			t.Errorf("RunDirs(%q) = %q, want %q", run, got, want)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	for name, opts := range map[string]LayoutOptions{
		"parent directory":   {TrainPath: "../x"},
		"other bucket":       {URL: "s3://b/p", ValPath: "s3://c/p/x"},
		"beside the root":    {URL: "s3://b/p", ValPath: "s3://b/px"},
		"the root itself":    {URL: "s3://b/p", ValPath: "s3://b/p"},
		"other scheme":       {URL: "file:///tmp", RunsPath: "s3://b/p"},
		"unknown root":       {RunsPath: "/tmp/x"},
		"outside the root":   {URL: "file:///tmp/x", TestPath: "/tmp/y"},
		"escape":             {URL: "file:///tmp/x", TestPath: "/tmp/x/../y"},
		"filename with path": {CheckpointFilename: "a/b"},
		"filename up":        {CheckpointFilename: ".."},
		"control character":  {RunsPath: "a\nb"},
	} {
		if l, err := NewLayout(&opts); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	l := newTestLayout(t, &LayoutOptions{URL: "file:///tmp/x", TestPath: "/tmp/x/y"})
	if got := l.TestData(-1); got != "y" {
		t.Errorf("absolute path below the root: %q", got)
	}
}

func TestEncodeRun(t *testing.T) {
	long := strings.Repeat("long/", 60)
	for run, want := range map[string]string{
		"r1":                     "r1",
		"slurm://s/a-1":          "slurm%3A%2F%2Fs%2Fa-1",
		".hidden":                "%2Ehidden",
		"..":                     "%2E.",
		"a.b":                    "a.b",
		"%41":                    "%2541",
		"é":                      "%C3%A9",
		"\x00":                   "%00",
		"":                       "%",
		long:                     strings.Repeat("long%2F", 60)[:134] + "%~" + string(DigestOf([]byte(long))),
		strings.Repeat("/", 100): strings.Repeat("%2F", 44) + "%~" + string(DigestOf([]byte(strings.Repeat("/", 100)))),
		strings.Repeat("a", 200): strings.Repeat("a", 200),
	} {
		got := EncodeRun(run)
		if got != want {
			t.Errorf("EncodeRun(%q) = %q, want %q", run, got, want)
		}
		back, ok := DecodeRun(got)
		if cut := strings.Contains(got, "%~"); ok == cut || (ok && back != run) {
			t.Errorf("DecodeRun(%q) = %q, %v", got, back, ok)
		}
	}
	for _, name := range []string{"a b", "%2e.", "%41", ".x", "%zz", "%~"} {
		if run, ok := DecodeRun(name); ok {
			t.Errorf("DecodeRun(%q) = %q, of another name", name, run)
		}
	}
}

func FuzzEncodeRun(f *testing.F) {
	f.Add("slurm://s/a-1", "slurm:/s/a-1")
	f.Add(strings.Repeat("%", 300), strings.Repeat("%", 301))
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := EncodeRun(a), EncodeRun(b)
		if (x == y) != (a == b) {
			t.Errorf("%q and %q become %q and %q", a, b, x, y)
		}
		if err := checkKey(x); err != nil || len(x) > maxRunName {
			t.Errorf("%q becomes %q: %v", a, x, err)
		}
	})
}

func TestParseDigest(t *testing.T) {
	sum := DigestOf([]byte("abc"))
	if want := Digest("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); sum != want {
		t.Errorf("DigestOf = %s", sum)
	}
	for _, s := range []string{string(sum), "sha256:" + string(sum), strings.ToUpper(string(sum)), "SHA256:" + string(sum)} {
		if got, err := ParseDigest(s); got != sum || err != nil {
			t.Errorf("ParseDigest(%q) = %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "sha256:", "md5:" + string(sum), string(sum)[1:], string(sum) + "0", strings.Repeat("g", 64)} {
		if got, err := ParseDigest(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseDigest(%q) = %q, %v", s, got, err)
		}
	}
}
