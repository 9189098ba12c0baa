package pyjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// FuzzUnmarshal checks that any text is either refused or reads the same after
// being written, and that standard JSON is never refused.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`{"metadata": {"a": 1.0}}`, `[NaN, -Infinity, 1e999, 12345678901234567890]`, `"\ud800\ude00é"`, `{"a":1,"a":2}`, "[[[["} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pyjson.Unmarshal(data)
		if err != nil {
			if json.Valid(data) && utf8.Valid(data) && len(data) < 1000 {
				t.Fatalf("refused standard JSON: %v", err)
			}
			return
		}
		first, err := pyjson.Marshal(v)
		if err != nil {
			if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > 500 {
				return
			}
			t.Fatal(err)
		}
		again, err := pyjson.Unmarshal(first)
		if err != nil {
			t.Fatalf("cannot read %s: %v", first, err)
		}
		if second, err := pyjson.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s became %s, %v", first, second, err)
		}
		if valid := pyjson.Valid(v); !json.Valid(valid) {
			t.Fatalf("not valid JSON: %s", valid)
		}
	})
}

// FuzzRoundTrip checks that any value that can be written reads back equal.
func FuzzRoundTrip(f *testing.F) {
	f.Add("é\x7f😀", int64(-3), uint64(0x7ff0000000000000), true)
	f.Add("\xed\xa0\x80", int64(0), uint64(1), false)
	f.Add("\xff", int64(0), uint64(1)<<63, false)
	f.Fuzz(func(t *testing.T, s string, i int64, bits uint64, b bool) {
		float := math.Float64frombits(bits)
		o := pyjson.NewObject(pyjson.Member{Key: s, Value: []any{s, i, float, b, nil}})
		text, err := pyjson.Marshal(o)
		if err != nil {
			if utf8.ValidString(s) {
				t.Fatal(err)
			}
			return
		}
		got, err := pyjson.UnmarshalObject(text)
		if err != nil {
			t.Fatalf("cannot read %s: %v", text, err)
		}
		if again, err := pyjson.Marshal(got); err != nil || !bytes.Equal(text, again) {
			t.Fatalf("%s became %s, %v", text, again, err)
		}
		v, ok := got.Get(s)
		if !ok && utf8.ValidString(s) {
			t.Fatalf("key %q is gone from %s", s, text)
		}
		if list, _ := v.([]any); ok && list[2] != float && !math.IsNaN(float) {
			t.Fatalf("%v became %v", float, list[2])
		}
	})
}
