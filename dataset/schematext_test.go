package dataset_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

func TestParseSchema(t *testing.T) {
	list, err := dataset.ParseSchema(" id : int64!, t:timestamp[ms, tz=Europe/Berlin],d:date,x:list<struct<a: int8, b: fixed_size_list<float>[2]>>,m: decimal(9)")
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"id","type":"int64","nullable":false},{"name":"t","type":"timestamp[ms, tz=Europe/Berlin]","nullable":true},` +
		`{"name":"d","type":"date32","nullable":true},` +
		`{"name":"x","type":"list<item: struct<a: int8, b: fixed_size_list<item: float32, nullable>[2]>, nullable>","nullable":true},` +
		`{"name":"m","type":"decimal(9, 0)","nullable":true}]`
	escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(want) // as encoding/json writes it
	if got := mustJSON(t, list); got != escaped {
		t.Errorf("ParseSchema = %s\nwant %s", got, want)
	}
	again, err := dataset.ParseSchema(want)
	if err != nil || mustJSON(t, again) != escaped {
		t.Errorf("read back as %s, %v", mustJSON(t, again), err)
	}
	for _, bad := range []string{
		"", "a", "a:", ":int8", "a:int7", "a:int8,", "a:int8 b", "a:int8,a:int8", "a:list<int8", "a:struct<>", "a:struct<b:int8,b:int8>",
		"a:decimal(39)", "a:decimal(2,3)", "a:timestamp[h]", "a:fixed_size_list<int8>", "a:fixed_size_list<int8>[0]", `[{"name":"a"}]`, "[1]", "a:list<\x89: int8>",
	} {
		if list, err := dataset.ParseSchema(bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ParseSchema(%q) = %v, %v", bad, list, err)
		}
	}
}

func FuzzParseSchema(f *testing.F) {
	for _, seed := range []string{"a:int8!,b:list<item: struct<x: decimal(3, 1)>, nullable>", "t:timestamp[ns, tz=UTC]", `[{"name":"a","type":"fixed_size_list<item: bool, nullable>[3]"}]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := dataset.ParseSchema(text)
		if err != nil {
			return
		}
		again, err := dataset.ParseSchema(mustJSON(t, list))
		if err != nil || mustJSON(t, again) != mustJSON(t, list) {
			t.Errorf("%q becomes %s, and that %s (%v)", text, mustJSON(t, list), mustJSON(t, again), err)
		}
	})
}
