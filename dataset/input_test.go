package dataset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// putTexts stores texts and returns them as inputs, in order.
func putTexts(t *testing.T, s *store.Store, texts map[string]string, names ...string) []dataset.Input {
	t.Helper()
	var inputs []dataset.Input
	for _, name := range names {
		if err := s.Put(t.Context(), store.Key(name), []byte(texts[name])); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, dataset.Input{Store: s, Key: store.Key(name)})
	}
	return inputs
}

// stageInputs stages inputs into a store of their own.
func stageInputs(t *testing.T, inputs []dataset.Input, opts *dataset.InputOptions, spec dataset.Spec) (*store.Store, *dataset.Dataset, error) {
	t.Helper()
	in, err := dataset.OpenInputs(t.Context(), inputs, opts)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	spec.Sources, spec.Options = in.Sources(), in.Options()
	s := openStore(t, "mem://", nil)
	d, _, err := dataset.Stage(t.Context(), s, spec, in.Produce)
	return s, d, err
}

// schemaOf is name:type of every column of a split.
func schemaOf(t *testing.T, s *store.Store, d *dataset.Dataset, split dataset.Name) string {
	t.Helper()
	var list []string
	for _, field := range manifest(t, s, d, split).Schema {
		text := field.Name + ":" + field.Type
		if !field.Nullable {
			text += "!"
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// rowsOf reads a split as JSON, a row a line.
func rowsOf(t *testing.T, s *store.Store, d *dataset.Dataset, split dataset.Name) string {
	t.Helper()
	r, err := dataset.Open(t.Context(), s, d.Commit.Splits[split].Dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for batch, err := range r.Batches(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := batch.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(body, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			out = append(out, string(row))
		}
	}
	return strings.Join(out, "\n")
}

func TestInputFormats(t *testing.T) {
	tests := []struct {
		name, file, text string
		opts             *dataset.InputOptions
		schema, rows     string
	}{
		{"types are inferred", "a.csv", "i,f,b,s,d,t,z\n1,1.5,true,x,2026-11-21,2026-11-21 10:00:00,2026-11-21T10:00:00+02:00\n-2,2,false,007,1969-12-31,1969-12-31T23:59:59.5,2026-11-21T10:00:00Z\n", nil,
			"i:int64,f:float64,b:bool,s:utf8,d:date32,t:timestamp[us],z:timestamp[us, tz=UTC]",
			`{"b":true,"d":"2026-11-21","f":1.5,"i":1,"s":"x","t":"2026-11-21 10:00:00Z","z":"2026-11-21 08:00:00Z"}
{"b":false,"d":"1969-12-31","f":2,"i":-2,"s":"007","t":"1969-12-31 23:59:59.5Z","z":"2026-11-21 10:00:00Z"}`},
		{"codes stay text", "a.csv", "zip,id\n00501,99999999999999999999\n10001,1\n", nil, "zip:utf8,id:utf8",
			`{"id":"99999999999999999999","zip":"00501"}` + "\n" + `{"id":"1","zip":"10001"}`},
		{"quotes, line ends and nulls", "a.csv", "\ufeffa,b\r\n\"x, \"\"y\"\"\",\"1\r\n2\"\r\n\"\",\r\n,z", nil, "a:utf8,b:utf8",
			`{"a":"x, \"y\"","b":"1\r\n2"}` + "\n" + `{"a":"","b":null}` + "\n" + `{"a":null,"b":"z"}`},
		{"one column with an empty line", "a.csv", "a\n1\n\n3\n", nil, "a:int64", `{"a":1}` + "\n" + `{"a":null}` + "\n" + `{"a":3}`},
		{"other nulls", "a.csv", "a,b\nNA,\n1,x\n", &dataset.InputOptions{Nulls: []string{"NA"}}, "a:int64,b:utf8",
			`{"a":null,"b":""}` + "\n" + `{"a":1,"b":"x"}`},
		{"tabs", "a.tsv", "a\tb\n1\tx,y\n", nil, "a:int64,b:utf8", `{"a":1,"b":"x,y"}`},
		{"a delimiter", "a.txt", "a;b\n1;2\n", &dataset.InputOptions{Delimiter: ';'}, "a:int64,b:int64", `{"a":1,"b":2}`},
		{"a schema", "a.csv", "b,a\n1.10,1\n", &dataset.InputOptions{Schema: schema(t, "a:int8!,b:decimal(5,2)")}, "a:int8!,b:decimal(5, 2)", `{"a":1,"b":"1.1"}`},
		{"no header", "a.csv", "1,x\n", &dataset.InputOptions{NoHeader: true, Schema: schema(t, "n:int32,s:string")}, "n:int32,s:utf8", `{"n":1,"s":"x"}`},
		{"JSON lines", "a.jsonl", `{"n":1,"s":"x","l":[1,2.5],"o":{"p":true,"q":null}}` + "\n\n" + `{"o":{"q":"y"},"l":[],"n":null}` + "\r\n", nil,
			"n:int64,s:utf8,l:list<item: float64, nullable>,o:struct<p: bool, q: utf8>",
			`{"l":[1,2.5],"n":1,"o":{"p":true,"q":null},"s":"x"}` + "\n" + `{"l":[],"n":null,"o":{"p":null,"q":"y"},"s":null}`},
		{"JSON lines with a schema", "x", `{"t":"2026-11-21T00:00:00Z","v":[1,2]}`,
			&dataset.InputOptions{Format: "jsonl", Schema: schema(t, "t:timestamp[ms, tz=UTC],v:fixed_size_list<item: float>[2]")},
			"t:timestamp[ms, tz=UTC],v:fixed_size_list<item: float32, nullable>[2]", `{"t":"2026-11-21 00:00:00Z","v":[1,2]}`},
		{"told by the first byte", "data", `{"n":1}`, nil, "n:int64", `{"n":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := openStore(t, "mem://", nil)
			inputs := putTexts(t, from, map[string]string{test.file: test.text}, test.file)
			s, d, err := stageInputs(t, inputs, test.opts, dataset.Spec{})
			if err != nil {
				t.Fatal(err)
			}
			if got := schemaOf(t, s, d, dataset.Train); got != test.schema {
				t.Errorf("schema %s\nwant   %s", got, test.schema)
			}
			if got := rowsOf(t, s, d, dataset.Train); got != test.rows {
				t.Errorf("rows %s\nwant %s", got, test.rows)
			}
		})
	}
}

func schema(t *testing.T, text string) []dataset.Field {
	t.Helper()
	list, err := dataset.ParseSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestBadInput(t *testing.T) {
	long := strings.Repeat("1,2\n", 700_000) // several blocks
	tests := []struct {
		name, file, text string
		opts             *dataset.InputOptions
		want             []string
	}{
		{"ragged, short", "a.csv", "a,b\n1,2\n3\n", nil, []string{"a.csv", "row 2", "fewer fields"}},
		{"ragged, long", "a.csv", "a,b\n1,2,3\n", nil, []string{"row 1", "more fields"}},
		{"ragged far behind", "a.csv", "a,b\n" + long + "1\n" + long, nil, []string{"row 700001", "fewer fields"}},
		{"another type far behind", "a.csv", "a,b\n" + long + "1,x\n", nil, []string{"row 700001", `column "b"`, `"x"`, "int64", "--schema"}},
		{"another type than given", "a.csv", "a\nx\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{"row 1", `"x"`, "int8"}},
		{"out of range", "a.csv", "a\n128\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{`"128"`, "int8"}},
		{"a null where none may be", "a.csv", "a,b\n1,\n", &dataset.InputOptions{Schema: schema(t, "a:int8,b:int8!")}, []string{"row 1", `column "b"`, "no nulls"}},
		{"digits lost", "a.csv", "a\n1.234\n", &dataset.InputOptions{Schema: schema(t, "a:decimal(5,2)")}, []string{`"1.234"`, "decimal"}},
		{"a column twice", "a.csv", "a,a\n1,2\n", nil, []string{"column 2", `"a"`, "twice"}},
		{"an unknown column", "a.csv", "a,c\n1,2\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{`no column "c"`}},
		{"a missing column", "a.csv", "a\n1\n", &dataset.InputOptions{Schema: schema(t, "a:int8,b:int8")}, []string{`column "b"`, "missing"}},
		{"empty", "a.csv", "", nil, []string{"a.csv", "empty"}},
		{"a header alone", "a.csv", "a,b\n", nil, []string{"a.csv", "no rows"}},
		{"a bare quote", "a.csv", "a\nx\"y\n", nil, []string{"row 1", "quote"}},
		{"an open quote", "a.csv", "a\n\"x\n", nil, []string{"row 1", "left open"}},
		{"text behind a quote", "a.csv", "a\n\"x\"y\n", nil, []string{"row 1", "quote"}},
		{"a bare CR", "a.csv", "a\n1\r2\n", nil, []string{"row 1", "CR"}},
		{"not UTF-8", "a.csv", "a\nx\n\xff\n", nil, []string{"row 2", "utf8"}},
		{"a header not UTF-8", "a.csv", "a\xff\n1\n", nil, []string{"header", "UTF-8"}},
		{"nested text", "a.csv", "a\n1\n", &dataset.InputOptions{Schema: schema(t, "a:list<int8>")}, []string{`column "a"`, "list"}},
		{"no JSON", "a.jsonl", "{\"a\":1}\n{\"a\":}\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{"row 2"}},
		{"JSON cut short", "a.jsonl", "{\"a\":1}\n{\"a\":1", nil, []string{"row 2", "unexpected EOF"}},
		{"no object", "a.jsonl", "[1]\n", nil, []string{"row 1", "object"}},
		{"two objects a line", "a.jsonl", "{\"a\":1}{\"a\":2}\n", nil, []string{"row 2", "line"}},
		{"an object over lines", "a.jsonl", "{\"a\":\n1}\n", nil, []string{"row 1", "lines"}},
		{"a JSON column twice", "a.jsonl", "{\"a\":1,\"a\":2}\n", nil, []string{"row 1", `column "a"`, "twice"}},
		{"an unknown JSON column", "a.jsonl", "{\"a\":1}\n{\"b\":1}\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{"row 2", `column "b"`}},
		{"a JSON type", "a.jsonl", "{\"a\":[{\"b\":\"x\"}]}\n", &dataset.InputOptions{Schema: schema(t, "a:list<item: struct<b: int8>>")},
			[]string{"row 1", `column "a.[0].b"`, `"x"`, "string is no int8"}},
		{"JSON types mixed", "a.jsonl", "{\"a\":1}\n{\"a\":\"x\"}\n", nil, []string{"row 2", `column "a"`, "integer and string", "--schema"}},
		{"a JSON real for an integer", "a.jsonl", "{\"a\":1.5}\n", &dataset.InputOptions{Schema: schema(t, "a:int8")}, []string{"row 1", `"1.5"`}},
		{"items too few", "a.jsonl", "{\"a\":[1]}\n", &dataset.InputOptions{Schema: schema(t, "a:fixed_size_list<int8>[2]")}, []string{"1 items, not 2"}},
		{"no Parquet", "a.parquet", "PAR1 and more than that", nil, []string{"a.parquet"}},
		{"no Arrow", "a.arrow", "ARROW1 and more than that", nil, []string{"a.arrow"}},
		{"no gzip", "a.csv", "\x1f\x8b and more", nil, []string{"a.csv", "gzip"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := openStore(t, "mem://", nil)
			_, _, err := stageInputs(t, putTexts(t, from, map[string]string{test.file: test.text}, test.file), test.opts, dataset.Spec{})
			if !errors.Is(err, store.ErrInvalid) && !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// TestInputsOfOneSchema reads several files, with columns in another order.
func TestInputsOfOneSchema(t *testing.T) {
	from := openStore(t, "mem://", nil)
	texts := map[string]string{"in/1.csv": "a,b\n1,x\n", "in/2.csv": "b,a\ny,2\n", "in/_x": "no data", "in/deep/3.csv": "c\n1\n", "other.csv": "a,c\n1,2\n"}
	putTexts(t, from, texts, "in/1.csv", "in/2.csv", "in/_x", "in/deep/3.csv", "other.csv")
	s, d, err := stageInputs(t, []dataset.Input{{Store: from, Key: "in"}}, nil, dataset.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, s, d, dataset.Train), `{"a":1,"b":"x"}`+"\n"+`{"a":2,"b":"y"}`; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	_, _, err = stageInputs(t, []dataset.Input{{Store: from, Key: "in"}, {Store: from, Key: "other.csv"}}, nil, dataset.Spec{})
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "other.csv") || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("another schema: %v", err)
	}
	if _, err := dataset.OpenInputs(t.Context(), []dataset.Input{{Store: from, Key: "nowhere"}}, nil); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}

// TestSameFilesOnAnyCores stages on 1, 2 and 8 cores: every byte of every split is
// the same but for the random part of the names.
func TestSameFilesOnAnyCores(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,label,x,note\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, "%d,%c,%g,\"line\n%d\"\n", i, "abc"[i*i%3], float64(i)/7, i%11)
	}
	from := openStore(t, "mem://", nil)
	inputs := putTexts(t, from, map[string]string{"a.csv": text.String()}, "a.csv")
	spec := dataset.Spec{Split: dataset.Split{Val: 0.1, Test: 0.15, Stratify: "label"}, Seed: 7}
	sums := map[string]int{}
	for _, cores := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(cores)
		s, d, err := stageInputs(t, inputs, nil, spec)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, split := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test} {
			for _, file := range manifest(t, s, d, split).Files {
				all = append(all, fmt.Sprint(split, file.Rows, file.SHA256))
			}
		}
		sums[strings.Join(all, "\n")]++
	}
	if len(sums) != 1 {
		t.Errorf("%d different outcomes: %v", len(sums), sums)
	}
}
