package pyjson_test

import (
	"errors"
	"io/fs"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func bigInt(t *testing.T, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("not an integer: %s", text)
	}
	return n
}

func TestMarshal(t *testing.T) {
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"null", nil, `null`},
		{"nil object", (*pyjson.Object)(nil), `null`},
		{"bool", []any{true, false}, `[true, false]`},
		{"int", 5, `5`},
		{"smallest int64", int64(math.MinInt64), `-9223372036854775808`},
		{"big int", bigInt(t, "1180591620717411303424"), `1180591620717411303424`},
		{"whole float", 1.0, `1.0`},
		{"negative zero", math.Copysign(0, -1), `-0.0`},
		{"small float", 0.00001, `1e-05`},
		{"last plain small float", 0.0001, `0.0001`},
		{"large float", 1e16, `1e+16`},
		{"last plain large float", 1e15, `1000000000000000.0`},
		{"digits and exponent", 1.5e300, `1.5e+300`},
		{"smallest float", 5e-324, `5e-324`},
		{"not a number", []any{math.NaN(), math.Inf(1), math.Inf(-1)}, `[NaN, Infinity, -Infinity]`},
		{"short escapes", "\b\f\n\r\t\"\\", `"\b\f\n\r\t\"\\"`},
		{"control characters", "\x00\x1f\x7f", `"\u0000\u001f\u007f"`},
		{"markup stays", "</a>&", `"</a>&"`},
		{"beyond ASCII", "é\u2028東", `"\u00e9\u2028\u6771"`},
		{"surrogate pair", "😀", `"\ud83d\ude00"`},
		{"lone surrogate", "a\xed\xa0\x80b", `"a\ud800b"`},
		{"real replacement character", "\ufffd", `"\ufffd"`},
		{"empty", []any{[]any{}, &pyjson.Object{}, ""}, `[[], {}, ""]`},
		{"order of keys", pyjson.NewObject(
			pyjson.Member{Key: "lr", Value: 0.01}, pyjson.Member{Key: "bs", Value: 25}), `{"lr": 0.01, "bs": 25}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := pyjson.Marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestMarshalRefuses(t *testing.T) {
	cycle := &pyjson.Object{}
	cycle.Set("self", cycle)
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"type", pyjson.NewObject(pyjson.Member{Key: "a", Value: []any{1, struct{}{}}}), "a[1]: a value of type struct {}"},
		{"text", []any{"\xff"}, "[0]: a string is not UTF-8"},
		{"key", pyjson.NewObject(pyjson.Member{Key: "\xff", Value: 1}), `"\xff": a string is not UTF-8`},
		{"long integer", new(big.Int).Exp(big.NewInt(10), big.NewInt(4300), nil), "more than 4300 digits"},
		{"cycle", cycle, "nested deeper than 500"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := pyjson.Marshal(test.value)
			if !errors.Is(err, fs.ErrInvalid) {
				t.Fatalf("error %v is not invalid", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
		})
	}
}

func TestValid(t *testing.T) {
	o := pyjson.NewObject(
		pyjson.Member{Key: "b", Value: math.NaN()},
		pyjson.Member{Key: "a", Value: []any{math.Inf(1), math.Inf(-1), 1.0, "é\u2028\x7f\n<", "\xed\xb0\x80", "\xff"}},
	)
	want := `{"b":"NaN","a":["Infinity","-Infinity",1.0,"é` + "\u2028\x7f" + `\n<","\udc00","` + "\ufffd" + `"]}`
	if got := string(pyjson.Valid(o)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(pyjson.Valid(struct{ A int }{1})); got != `"{1}"` {
		t.Errorf("unknown type: got %s", got)
	}
}
