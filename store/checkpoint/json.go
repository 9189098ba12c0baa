package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// number is a JSON number, or one that only Python writes; strings are no error, but NaN.
type number float64

// UnmarshalJSON is json.Unmarshaler's.
func (n *number) UnmarshalJSON(b []byte) error {
	f := math.NaN()
	switch strings.Trim(string(b), `"`) {
	case "Infinity":
		f = math.Inf(1)
	case "-Infinity":
		f = math.Inf(-1)
	case "null":
	default:
		if json.Unmarshal(b, &f) != nil {
			f = math.NaN()
		}
	}
	*n = number(f)
	return nil
}

// readJSON reads a small file. What is no JSON is a reason.
func readJSON(o *object, v any) error {
	text, err := o.text()
	if err != nil {
		return err
	}
	return decodeJSON(o.Key, text, v)
}

func decodeJSON(key store.Key, text []byte, v any) error {
	err := json.Unmarshal(quoteNumbers(text), v)
	var other *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &other) {
		return notWhole("%s: %v", key.Base(), err)
	}
	if err != nil {
		return notWhole("%s: it is not what it should be: %v", key.Base(), err)
	}
	return nil
}

// quoteNumbers makes strings of NaN, Infinity and -Infinity, which Python writes bare.
func quoteNumbers(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out bytes.Buffer
	quoted := false
	for i := 0; i < len(text); i++ {
		word := ""
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(text):
			out.WriteByte(c)
			i++
		case !quoted:
			word = bareNumber(text[i:])
		}
		if word == "" {
			out.WriteByte(text[i])
			continue
		}
		out.WriteString(`"` + word + `"`)
		i += len(word) - 1
	}
	return out.Bytes()
}

func bareNumber(text []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return word
		}
	}
	return ""
}

// floats is nil for an empty map.
func floats(m map[string]number) map[string]float64 {
	var out map[string]float64
	for name, v := range m {
		if out == nil {
			out = map[string]float64{}
		}
		out[name] = float64(v)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
