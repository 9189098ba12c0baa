package openlineage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

func TestEach(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \n\t\n", ""},
		{"lines", "{\"a\":1}\n\n{\"a\":2}", `1 {"a":1}|3 {"a":2}`},
		{"carriage returns and a mark", "\ufeff{\"a\":1}\r\n{}\r\n", `1 {"a":1}|2 {}`},
		{"no JSON", "{}\nx y\n{}\n", "1 {}|2 x y|3 {}"},
		{"over several lines", "\n{\n \"a\": {}\n}\n{}\n", "2 {\n \"a\": {}\n}|5 {}"},
		{"never closed", "{\"a\":\n{}\n{}\n", "1 {\"a\":|2 {}|3 {}"},
		{"brackets in texts", "{\"a\":\"{[\\\"\"}\n{}\n", "1 {\"a\":\"{[\\\"\"}|2 {}"},
		{"an open text", "{\"a\": \"x\n{}\n", "1 {\"a\": \"x|2 {}"},
		{"a list", "[{\"a\":1},\n {\"a\":2}\n,\n{}]", `1 {"a":1}|2 {"a":2}|4 {}`},
		{"an empty list", "[]", ""},
	}
	for _, tt := range tests {
		var got []string
		err := Each(strings.NewReader(tt.text), func(line int, body []byte) error {
			got = append(got, fmt.Sprintf("%d %s", line, body))
			return nil
		})
		if text := strings.Join(got, "|"); err != nil || text != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, text, err, tt.want)
		}
	}
	for _, broken := range []string{"[{}", "[{},", "[{} {}]", "[x]"} {
		if err := Each(strings.NewReader(broken), func(int, []byte) error { return nil }); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v, want kind ErrInvalid and the line", broken, err)
		}
	}
}

// FuzzEvents reads whatever comes as a file of events, and what passes as one gives a run.
func FuzzEvents(f *testing.F) {
	f.Add(`{"eventType":"START","eventTime":"2026-11-20T10:00:00Z","run":{"runId":"11111111-1111-4111-8111-111111111111","facets":{"heirloom_run":{"id":"a"}}},"job":{"namespace":"a","name":"b"},"inputs":[{"namespace":"s3://b","name":"c"}]}`)
	f.Add(`[{"run":{}},{"job":{}}]`)
	f.Add("{\n\"run\": [")
	f.Fuzz(func(t *testing.T, text string) {
		_ = Each(strings.NewReader(text), func(_ int, body []byte) error { // an error is an answer
			clean, err := canonical(body)
			if err != nil {
				return nil
			}
			again, err := canonical(clean)
			if err != nil || string(again) != string(clean) {
				t.Errorf("%q becomes %q, and that %q, %v", body, clean, again, err)
			}
			e, err := Parse(clean)
			if err != nil {
				return nil
			}
			id, err := runOf(e)
			if err != nil {
				return nil
			}
			one, err := fold(id, []told{{Event: e, digest: store.DigestOf(clean), body: clean}})
			two, errTwo := fold(id, []told{{Event: e, digest: store.DigestOf(clean), body: clean}, {Event: e, digest: store.DigestOf(clean), body: clean}})
			if (err == nil) != (errTwo == nil) || err == nil && (len(one.sources) != len(two.sources) || len(one.artifacts) != len(two.artifacts)) {
				t.Errorf("the same event twice adds up to something else: %q", clean)
			}
			return nil
		})
	})
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return time.Date(2026, 11, 20, 1, 2, 3, 4000, time.UTC) }
	one := &Files{Path: filepath.Join(dir, "all.jsonl"), Append: true}
	each := &Files{Path: filepath.Join(dir, "event"), Now: now}
	for range 2 {
		for _, s := range []Sender{one, each} {
			if err := s.Send(t.Context(), event); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := os.ReadFile(one.Path)
	if err != nil || strings.Count(string(all), "\n") != 2 {
		t.Errorf("%q, %v; want two lines", all, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 || entries[1].Name() != "event-20261120-010203.000004-2.json" {
		t.Errorf("%v, %v; want a file for each event", entries, err)
	}
}
