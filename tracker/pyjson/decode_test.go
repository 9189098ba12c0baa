package pyjson_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestUnmarshal(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // written again
	}{
		{"white space", " \t\r\n{ \"a\" :\n[ 1 ,2 ] } \n", `{"a": [1, 2]}`},
		{"non-finite", `[NaN, Infinity, -Infinity]`, `[NaN, Infinity, -Infinity]`},
		{"big integers", `[9223372036854775807, 9223372036854775808, -1180591620717411303424]`,
			`[9223372036854775807, 9223372036854775808, -1180591620717411303424]`},
		{"longest integer", "-" + strings.Repeat("9", 4300), "-" + strings.Repeat("9", 4300)},
		{"minus zero is an integer", `[-0, -0.0]`, `[0, -0.0]`},
		{"floats", `[1.0, 1E5, 1e-7, 2.50]`, `[1.0, 100000.0, 1e-07, 2.5]`},
		{"beyond float64", `[1e999, -1e999]`, `[Infinity, -Infinity]`},
		{"duplicate keys", `{"a": 1, "b": 2, "a": 3}`, `{"a": 3, "b": 2}`},
		{"escapes", `"\"\\\/\b\f\n\r\tA\u00E9"`, `"\"\\/\b\f\n\r\tA\u00e9"`},
		{"surrogates", `"\ud83d\ude00 \ud83d\ud83d\ude00 \ude00\ud83d \ud83dx"`,
			`"\ud83d\ude00 \ud83d\ud83d\ude00 \ude00\ud83d \ud83dx"`},
		{"plain UTF-8", `"é東😀"`, `"\u00e9\u6771\ud83d\ude00"`},
		{"deep", strings.Repeat("[", 400) + strings.Repeat("]", 400), strings.Repeat("[", 400) + strings.Repeat("]", 400)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := pyjson.Unmarshal([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := pyjson.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", "[", "[1", "[1,", "[1,]", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,}`, `{a:1}`, `{1:2}`, "[1 2]", `{"a" 1}`,
		"01", "-", "+1", ".5", "1.", "1e", "1e+", "--1", "-NaN", "nan", "inf", "tru", "nulll", "1 2", "0x1",
		`"`, `"a`, `"\`, `"\x41"`, `"\u12"`, `"\u12g4"`, "\"a\nb\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\xef\xbb\xbf1", "\x00",
		strings.Repeat("9", 4301), strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
	} {
		name := text
		if len(name) > 20 {
			name = name[:20]
		}
		t.Run(name, func(t *testing.T) {
			v, err := pyjson.Unmarshal([]byte(text))
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}

func TestSyntaxErrorSaysWhere(t *testing.T) {
	_, err := pyjson.Unmarshal([]byte(`{"a": [1, x]}`))
	if want := "read JSON: byte 10: expected a value"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = pyjson.Unmarshal([]byte("\"ab\xff\""))
	if want := "read JSON: byte 3: not UTF-8"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUnmarshalTypes(t *testing.T) {
	v, err := pyjson.Unmarshal([]byte(`[1, 1.0, "a", true, null, {}, []]`))
	if err != nil {
		t.Fatal(err)
	}
	list := v.([]any)
	if list[0] != int64(1) || list[1] != 1.0 || list[2] != "a" || list[3] != true || list[4] != nil {
		t.Errorf("got %#v", list)
	}
	if o, ok := list[5].(*pyjson.Object); !ok || o.Len() != 0 {
		t.Errorf("object: got %#v", list[5])
	}
	if l, ok := list[6].([]any); !ok || l == nil || len(l) != 0 {
		t.Errorf("list: got %#v", list[6])
	}
}

func TestUnmarshalObject(t *testing.T) {
	for _, text := range []string{`[]`, `null`, `"a"`, `{`} {
		if o, err := pyjson.UnmarshalObject([]byte(text)); err == nil {
			t.Errorf("%s: got %v", text, o)
		}
	}
}

func TestObject(t *testing.T) {
	var o pyjson.Object
	o.Set("b", 1)
	o.Set("a", 2)
	o.Set("b", 3)
	if got := o.Keys(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("keys %v", got)
	}
	o.Delete("missing")
	o.Delete("b")
	o.Merge(pyjson.NewObject(pyjson.Member{Key: "c", Value: "x"}, pyjson.Member{Key: "a", Value: 4}))
	if b, err := pyjson.Marshal(&o); err != nil || string(b) != `{"a": 4, "c": "x"}` {
		t.Errorf("got %s, %v", b, err)
	}
	if o.Text("c") != "x" || o.Text("a") != "" {
		t.Errorf("text: %q, %q", o.Text("c"), o.Text("a"))
	}
	c := o.Clone()
	c.Set("d", 1)
	if o.Len() != 2 || c.Len() != 3 {
		t.Errorf("a clone shares its keys: %v, %v", o.Keys(), c.Keys())
	}
	for k := range o.All() {
		if k != "a" {
			t.Errorf("first key %q", k)
		}
		break
	}
}

func TestNilObjectReadsAsEmpty(t *testing.T) {
	var o *pyjson.Object
	_, ok := o.Get("a")
	if ok || o.Len() != 0 || o.Keys() != nil || o.Clone().Len() != 0 {
		t.Error("a nil object holds something")
	}
	o.Delete("a")
	for k := range o.All() {
		t.Errorf("key %q", k)
	}
}

func TestEncodingJSON(t *testing.T) {
	type document struct {
		Metadata, None *pyjson.Object
	}
	in := document{Metadata: pyjson.NewObject(pyjson.Member{Key: "z", Value: math.NaN()}, pyjson.Member{Key: "a", Value: "é"})}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"Metadata":{"z":"NaN","a":"é"},"None":null}`; string(text) != want {
		t.Fatalf("got %s, want %s", text, want)
	}
	var out document
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out.None != nil || !slices.Equal(out.Metadata.Keys(), []string{"z", "a"}) {
		t.Errorf("got %+v", out)
	}
}
