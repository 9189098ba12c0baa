package tracker_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestEncodeGolden holds names that TorchX itself wrote.
func TestEncodeGolden(t *testing.T) {
	for id, want := range map[tracker.RunID]string{
		"local_cwd://torchx/parent-abc":  "NRXWGYLML5RXOZB2F4XXI33SMNUHQL3QMFZGK3TUFVQWEYY=",
		"local_cwd://torchx/my_app-xyz":  "NRXWGYLML5RXOZB2F4XXI33SMNUHQL3NPFPWC4DQFV4HS6Q=",
		"kubernetes://session_id/app_id": "NN2WEZLSNZSXIZLTHIXS643FONZWS33OL5UWIL3BOBYF62LE",
		"local://session/id1":            "NRXWGYLMHIXS643FONZWS33OF5UWIMI=",
		"s://n/parent":                   "OM5C6L3OF5YGC4TFNZ2A====",
		"s://n/child":                    "OM5C6L3OF5RWQ2LMMQ======",
		"ext exp#1":                      "MV4HIIDFPBYCGMI=",
		"a":                              "ME======",
		"ab":                             "MFRA====",
		"abc":                            "MFRGG===",
		"abcd":                           "MFRGGZA=",
		"abcde":                          "MFRGGZDF",
		"naïve":                          "NZQ4HL3WMU======",
	} {
		if got := id.Encode(); got != want {
			t.Errorf("%s: encoded %s, want %s", id, got, want)
		}
		if got, err := tracker.DecodeRunID(want); err != nil || got != id {
			t.Errorf("%s: decoded %q, %v, want %s", want, got, err, id)
		}
	}
}

func TestParseRunID(t *testing.T) {
	good := []string{"a", " ", "a b#é", strings.Repeat("x", 155), "local://torchx/x\u2028"}
	for _, text := range good {
		if id, err := tracker.ParseRunID(text); err != nil || string(id) != text {
			t.Errorf("%q: got %q, %v", text, id, err)
		}
		if len(tracker.RunID(text).Encode()) > 255 {
			t.Errorf("%q is too long for a file name", text)
		}
	}
	bad := map[string]string{
		"":                       "empty",
		strings.Repeat("x", 156): "156 bytes",
		"a\nb":                   "control character",
		"a\x00":                  "control character",
		"a\x7f":                  "control character",
		"a\u0085":                "control character",
		"a\xff":                  "not UTF-8",
	}
	for text, want := range bad {
		_, err := tracker.ParseRunID(text)
		if !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: got %v", text, err)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x00\x7f") {
			t.Errorf("%q: the error reads %q", text, err)
		}
	}
}

func TestDecodeRunIDRefuses(t *testing.T) {
	for _, name := range []string{
		"", "lost+found", "metadata", ".tmp", "mfrgg===", "MFRGG", "MFRGG==", "ME======\n", "\nME======",
		"MF======", // bits beyond the end: another name for "a"
		"BI======", // a newline
		"74======", // not UTF-8
		"=", "8A======", "ME=====",
	} {
		if id, err := tracker.DecodeRunID(name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: got %q, %v", name, id, err)
		}
	}
}

func TestNewRunID(t *testing.T) {
	tests := []struct{ scheduler, session, name, want string }{
		{"local", "", "train", `^local://torchx/train-[bcdfghjklmnpqrstvwxz][bcdfghjklmnpqrstvwxz0-79]{9,13}$`},
		{"slurm", "team-a", "my model/v2 é!", `^slurm://team-a/my-model-v2-[^/]+$`},
		{"local", "", "", `^local://torchx/run-[^/]+$`},
		{"local", "", "../../x", `^local://torchx/x-[^/]+$`},
		{"local", "", strings.Repeat("n", 500), `^local://torchx/n{100,130}-[^/]+$`},
	}
	for _, test := range tests {
		id, err := tracker.NewRunID(test.scheduler, test.session, test.name)
		if err != nil {
			t.Errorf("%v: %v", test, err)
			continue
		}
		if !regexp.MustCompile(test.want).MatchString(string(id)) || len(id) > 155 {
			t.Errorf("%v: got %s", test, id)
		}
		if again, err := tracker.NewRunID(test.scheduler, test.session, test.name); err != nil || again == id {
			t.Errorf("%v: twice the same id %s, %v", test, id, err)
		}
	}
	for _, part := range []string{"", "a b", "a/b", "é", strings.Repeat("s", 51)} {
		if id, err := tracker.NewRunID(part, "", "x"); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("scheduler %q: got %s, %v", part, id, err)
		}
	}
}

func TestName(t *testing.T) {
	for id, want := range map[tracker.RunID]string{
		"local://torchx/train-x7": "train-x7",
		"clicks@2026-11-20":       "clicks@2026-11-20",
		"s3://bucket/dir/":        "s3://bucket/dir/",
		"/":                       "/",
	} {
		if got := id.Name(); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}

func FuzzRunID(f *testing.F) {
	f.Add("local://torchx/train-x7", "ME======")
	f.Fuzz(func(t *testing.T, text, name string) {
		if id, err := tracker.ParseRunID(text); err == nil {
			if back, err := tracker.DecodeRunID(id.Encode()); err != nil || back != id {
				t.Errorf("%q became %q, %v", id, back, err)
			}
			if len(id.Encode()) > 255 {
				t.Errorf("%q makes a name of %d bytes", id, len(id.Encode()))
			}
		}
		if id, err := tracker.DecodeRunID(name); err == nil && id.Encode() != name {
			t.Errorf("%q is read as %q, whose name is %q", name, id, id.Encode())
		}
	})
}
