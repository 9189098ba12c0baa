package dataset_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// TestManifestSumsUp holds statistics and shapes against the rows, over several files.
func TestManifestSumsUp(t *testing.T) {
	list := schema(t, "i:int64,u:uint32!,none:uint8,f:float,b:bool,s:utf8,long:utf8,d:date32,t:timestamp[us, tz=UTC],m:decimal(20,2),n:int8,"+
		"v:list<float>,r:list<int8>,x:fixed_size_list<fixed_size_list<int8>[2]>[3]")
	line := func(i, u int, f, s string) string {
		return fmt.Sprintf(`{"i":%d,"u":%d,"f":%s,"b":%v,"s":%q,"long":%q,"d":"2026-11-%02d","t":"2026-11-21T10:00:0%dZ","m":"-12.3%d","v":[1,2],"r":[%s],"x":[[1,2],[3,4],[5,6]]}`,
			i, u, f, i > 2, s, strings.Repeat(s, 80), i, i, i, strings.TrimSuffix(strings.Repeat("1,", i), ","))
	}
	from := openStore(t, "mem://", nil)
	text := line(1, 4294967295, "1.5", "b") + "\n" + line(3, 0, "-2", "ü") + "\n" + line(2, 7, "0", "a")
	s, d, err := stageInputs(t, putTexts(t, from, map[string]string{"a.jsonl": text}, "a.jsonl"), &dataset.InputOptions{Schema: list}, dataset.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, s, d, dataset.Train)
	want := map[string]string{
		"i": `{"nulls":0,"min":1,"max":3}`, "u": `{"nulls":0,"min":0,"max":4294967295}`, "f": `{"nulls":0,"min":-2,"max":1.5}`,
		"b": `{"nulls":0,"min":false,"max":true}`, "s": `{"nulls":0,"min":"a","max":"ü"}`, "long": `{"nulls":0}`,
		"d": `{"nulls":0,"min":"2026-11-01","max":"2026-11-03"}`, "t": `{"nulls":0,"min":"2026-11-21T10:00:01Z","max":"2026-11-21T10:00:03Z"}`,
		"m": `{"nulls":0,"min":"-12.33","max":"-12.31"}`, "n": `{"nulls":3}`,
	}
	for column, stats := range want {
		if got := mustJSON(t, m.Files[0].Columns[column]); got != stats {
			t.Errorf("column %s: %s, want %s", column, got, stats)
		}
	}
	if stats, ok := m.Files[0].Columns["none"]; ok {
		t.Errorf("statistics of numbers without a sign: %+v", stats)
	}
	shapes := map[string]string{"i": "[] 0", "v": "[2] 2", "r": "[] 3", "x": "[3 2] 3"}
	for _, field := range m.Schema {
		if got := fmt.Sprint(field.Shape, field.MaxLength); shapes[field.Name] != "" && got != shapes[field.Name] {
			t.Errorf("column %s has shape and greatest length %s, want %s", field.Name, got, shapes[field.Name])
		}
	}
}

// TestManifestOfVersion1 opens a dataset as the first release wrote it.
func TestManifestOfVersion1(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	if err := os.CopyFS(mustLocal(t, s, ""), os.DirFS("testdata/version1")); err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Open(t.Context(), s, "intermediate_train_data.0")
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReadTable(t.Context(), nil)
	if err != nil || mustJSON(t, got) != mustJSON(t, table(0, 3)) {
		t.Errorf("read %s, %v", mustJSON(t, got), err)
	}
	one := dataset.Spec{Sources: []dataset.Source{{URI: "clicks@1", Version: "7"}}}
	_, hit, err := dataset.Stage(t.Context(), s, one, func(context.Context, *dataset.Writer) error { return os.ErrInvalid })
	if err != nil || !hit {
		t.Errorf("Stage: hit %v, %v", hit, err)
	}
}

func mustLocal(t *testing.T, s *store.Store, key store.Key) string {
	t.Helper()
	path, ok := s.LocalPath(key)
	if !ok {
		t.Fatalf("%s is not local", s.URL())
	}
	return path
}

// TestWideRows writes many columns within little memory, and refuses too many.
func TestWideRows(t *testing.T) {
	wide := func(n int) string {
		var head, row strings.Builder
		for i := range n {
			fmt.Fprintf(&head, "c%d,", i)
			row.WriteString("1,")
		}
		return strings.TrimSuffix(head.String(), ",") + "\n" + strings.TrimSuffix(row.String(), ",") + "\n"
	}
	for _, n := range []int{1_000, 100_000} {
		from := openStore(t, "mem://", nil)
		s, d, err := stageInputs(t, putTexts(t, from, map[string]string{"a.csv": wide(n)}, "a.csv"), nil, dataset.Spec{})
		switch {
		case n < 20_000 && (err != nil || len(manifest(t, s, d, dataset.Train).Schema) != n):
			t.Errorf("%d columns: %v", n, err)
		case n > 20_000 && (err == nil || !strings.Contains(err.Error(), "100000 columns")):
			t.Errorf("%d columns: %.300v", n, err)
		}
	}
}

// TestEveryTypeIsWritten reads back what both encoders write: side by side, and with nested columns.
func TestEveryTypeIsWritten(t *testing.T) {
	flat := `[{"a": null, "b": 1, "c": "x", "d": true, "e": "2026-11-21", "f": -1.5}, {"a": "2026-11-21 10:00:00", "b": null, "c": null, "d": null, "e": null, "f": null}]`
	for _, nested := range []string{"", ",g:struct<h: int8>"} {
		columns := schema(t, "a:timestamp[ns],b:uint64,c:string,d:bool,e:date,f:decimal(5,2)"+nested)
		from := openStore(t, "mem://", nil)
		text := strings.NewReplacer("[{", "{", "}]", "}", "}, {", "}\n{", "-1.5", `"-1.5"`).Replace(flat)
		s, d, err := stageInputs(t, putTexts(t, from, map[string]string{"a.jsonl": text}, "a.jsonl"), &dataset.InputOptions{Schema: columns}, dataset.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		got := rowsOf(t, s, d, dataset.Train)
		want := `{"a":null,"b":1,"c":"x","d":true,"e":"2026-11-21","f":"-1.5"}` + "\n" + `{"a":"2026-11-21 10:00:00Z","b":null,"c":null,"d":null,"e":null,"f":null}`
		if nested != "" {
			want = strings.ReplaceAll(want, "}", `,"g":null}`)
		}
		if got != want {
			t.Errorf("rows %s\nwant %s", got, want)
		}
	}
}
