package tracker

import (
	"testing"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// TestFsspecGrammar holds what torchx/tracker/backend/fsspec.py makes of files.
func TestFsspecGrammar(t *testing.T) {
	for text, want := range map[string]string{
		"a=1\nb = 2 = 3 \n": `{"a": "1", "b": "2 = 3"}`,
		"k=\n":              `{"k": ""}`,
		"k=":                `{}`,
		"=v\nno\n\n":        `{}`,
		"#c=1\n #d=2\n":     `{"#d": "2"}`,
		"client_kwargs.endpoint_url=http://h\nclient_kwargs.x.y=1": `{"client_kwargs": {"endpoint_url": "http://h", "x": {"y": "1"}}}`,
		".a=1\na..b=2\n":  `{"": {"a": "1"}, "a": {"": {"b": "2"}}}`,
		"a.b=1\na=2\n":    `{"a": "2"}`,
		"a=1\ra=2\r\na=3": `{"a": "3"}`,
	} {
		o, err := parseFsspec(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := pyjson.Marshal(o); err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestFsspecURL(t *testing.T) {
	for text, want := range map[string]string{
		"protocol=file\nroot_path=/a b/c\n":                                             "/a b/c",
		"protocol=s3\nroot_path=b/p\n":                                                  "s3://b/p",
		"protocol=s3a\nroot_path=s3://b/p\n":                                            "s3://b/p",
		"protocol=gcs\nroot_path=b/p\n":                                                 "gs://b/p",
		"protocol=s3\nroot_path=b/p\nprofile=p\nanon=False\n":                           "s3://b/p?anonymous=true&profile=p",
		"protocol=gs\nroot_path=b/p\nendpoint_url=http://127.0.0.1:4443/\ntoken=anon\n": "gs://b/p?anonymous=true",
		"protocol=gs\nroot_path=gs://b/p\n":                                             "gs://b/p",
		"protocol=memory\nroot_path=/x\n":                                               "mem://x",
		"protocol=s3\nroot_path=b/p\nclient_kwargs.endpoint_url=http://127.0.0.1:9000\nclient_kwargs.region_name=eu-1\n": "s3://b/p?endpoint=http%3A%2F%2F127.0.0.1%3A9000&region=eu-1&use_path_style=true",
		"protocol=s3\nroot_path=b/p\nendpoint_url=http://h\n":                                                            "s3://b/p?endpoint=http%3A%2F%2Fh&use_path_style=true",
	} {
		o, err := parseFsspec(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fsspecURL(o, environment{"STORAGE_EMULATOR_HOST": "127.0.0.1:4443"}); err != nil || got != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func FuzzFsspec(f *testing.F) {
	f.Add("protocol=s3\nroot_path=b/p\nclient_kwargs.endpoint_url=http://h\n#c\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseFsspec(text)
		if err != nil {
			return
		}
		if _, err := fsspecURL(o, environment{"STORAGE_EMULATOR_HOST": "127.0.0.1:4443"}); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// FuzzTextLines checks that no file of names can hide or forge a link.
func FuzzTextLines(f *testing.F) {
	f.Add([]byte("\nmodel\nmod"), "model")
	f.Fuzz(func(t *testing.T, body []byte, written string) {
		seen := map[string]bool{}
		for _, line := range textLines(body, map[string]bool{written: true}) {
			if seen[line] {
				t.Errorf("%q: %q comes twice", body, line)
			}
			seen[line] = true
		}
		for _, line := range textLines(append(append([]byte{}, body...), "\nlast\n"...), nil) {
			delete(seen, line)
		}
		if len(seen) > 0 {
			t.Errorf("%q: %v is gone once a line is added", body, seen)
		}
	})
}
