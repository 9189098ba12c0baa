package runner

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

type everyType struct {
	LogDir   string            `help:"where logs go"`
	Grace    time.Duration     `opt:"grace" default:"30s" help:"to end"`
	MailUser *string           `opt:"mail-user,mail" help:"who is told"`
	Count    *int              `opt:"count"`
	Big      int64             `opt:"big" default:"7"`
	Ratio    float64           `opt:"ratio" default:"0.5"`
	Exact    bool              `opt:"exact" default:"true"`
	Nodes    []string          `opt:"nodes" default:"n1,n2"`
	Labels   map[string]string `opt:"labels" default:"a:1,b:2"`
	Skipped  chan int          `opt:"-"`
	hidden   int
	embeddedOptions
}

type embeddedOptions struct {
	Account string `required:"true" help:"who pays"`
}

func TestDecode(t *testing.T) {
	set := setOf(t, everyType{})
	cfg, err := set.Parse(`logDir=/l,Mail=me,count=4,grace=90,account=a,nodes=x`)
	if err != nil {
		t.Fatal(err)
	}
	got := everyType{hidden: 5}
	if err := set.Decode(cfg, &got); err != nil {
		t.Fatal(err)
	}
	me, four := "me", 4
	want := everyType{
		LogDir: "/l", Grace: 90 * time.Second, MailUser: &me, Count: &four, Big: 7, Ratio: 0.5, Exact: true, Nodes: []string{"x"},
		Labels: map[string]string{"a": "1", "b": "2"}, hidden: 5, embeddedOptions: embeddedOptions{"a"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	var none everyType
	if err := set.Decode(Config{"account": "a", "count": nil}, &none); err != nil || none.Count != nil || none.MailUser != nil || none.LogDir != "" {
		t.Errorf("got %+v, %v", none, err)
	}
	none.Labels["a"], none.Nodes[0] = "changed", "changed"
	if again, err := set.Resolve(Config{"account": "a"}); err != nil || again["labels"].(map[string]string)["a"] != "1" || again["nodes"].([]string)[0] != "n1" {
		t.Errorf("a default was changed: %v, %v", again, err)
	}
}

// A configuration that went through JSON means the same.
func TestConfigThroughJSON(t *testing.T) {
	set := setOf(t, everyType{})
	resolved, err := set.Resolve(Config{"account": "a", "count": 4, "ratio": 2})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(resolved)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"account":"a","big":7,"count":4,"exact":true,"grace":"30s","labels":{"a":"1","b":"2"},"log_dir":null,"mail-user":null,"nodes":["n1","n2"],"ratio":2}`; string(body) != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	var read Config
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := set.Resolve(read); err != nil || !reflect.DeepEqual(again, resolved) {
		t.Errorf("got %#v, %v\nwant %#v", again, err, resolved)
	}
}

func TestOptionsRefused(t *testing.T) {
	set := setOf(t, everyType{})
	for _, c := range []struct {
		name string
		err  func() error
		want string
	}{
		{"near miss", func() error { _, err := set.Parse("gracee=3"); return err }, "unknown run option gracee (did you mean grace?); known: log_dir, grace, mail-user"},
		{"not near", func() error { _, err := set.Resolve(Config{"zzzzzzzz": 1}); return err }, "unknown run option zzzzzzzz; known: log_dir"},
		{"both names", func() error { _, err := set.Resolve(Config{"mail": "a", "mail-user": "b"}); return err }, "given twice, as mail and mail-user"},
		{"two cases", func() error { _, err := set.Parse("logDir=a,log_dir=b"); return err }, "log_dir is given twice"},
		{"part of a value", func() error { _, err := set.Parse("nodes=a,b=c"); return err }, "if it is part of the value before, put that in quotes"},
		{"open quote", func() error { _, err := set.Parse(`nodes="a,b`); return err }, "a quote is not closed"},
		{"after a quote", func() error { _, err := set.Parse(`nodes="a"b`); return err }, `comes "b", not a delimiter`},
		{"text after a quote", func() error { _, err := set.Parse(`log_dir="a",b`); return err }, "put all of it in quotes"},
		{"key twice", func() error { _, err := set.Parse("labels=a:1,a:2"); return err }, `the key "a" twice`},
		{"no key", func() error { _, err := set.Parse("labels=:1"); return err }, "one has no key"},
		{"duration", func() error { _, err := set.Parse("grace=soon"); return err }, "must be of type: duration, such as 90s"},
		{"negative duration", func() error { _, err := set.Parse("grace=-1"); return err }, "must be of type: duration, 0 or more"},
		{"half a count", func() error { _, err := set.Resolve(Config{"count": 1.5}); return err }, "must be of type: int, but was: 1.5 (float)"},
		{"of another type", func() error { _, err := set.Resolve(Config{"nodes": 3}); return err }, "must be of type: list[str], but was: 3 (int)"},
		{"none at all", func() error { _, err := setOf(t, struct{}{}).Parse("a=1"); return err }, "this scheduler has none"},
		{"no struct", func() error { _, err := OptionsOf(3); return err }, "not a struct"},
		{"bad type", func() error { _, err := OptionsOf(struct{ A []int }{}); return err }, "is of type []int, which no option has"},
		{"bad default", func() error {
			_, err := OptionsOf(struct {
				A int `default:"x"`
			}{})
			return err
		}, "must be of type: int"},
		{"required with default", func() error {
			_, err := OptionsOf(struct {
				A int `required:"true" default:"1"`
			}{})
			return err
		}, "must not specify default value. Given: 1"},
		{"one name", func() error {
			_, err := OptionsOf(struct {
				A int `opt:"log_dir"`
				B int `opt:"b,logDir"`
			}{})
			return err
		}, "has the name logDir, as has log_dir"},
		{"merged", func() error { _, err := set.Merge(set); return err }, "has the name log_dir"},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSection(t *testing.T) {
	set := setOf(t, everyType{})
	got, err := set.Section(map[string]string{"log_dir": "None", "nodes": "a;b", "labels": "a:1;b:x,y:z", "mail-user": "a,b", "grace": "5"})
	want := Config{
		"log_dir": nil, "nodes": []string{"a", "b"}, "labels": map[string]string{"a": "1", "b": "x", "y": "z"}, "mail-user": "a,b", "grace": 5 * time.Second,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
	if _, err := set.Section(map[string]string{"bogus": "1"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestMergeOptions(t *testing.T) {
	set, err := setOf(t, embeddedOptions{}).Merge(setOf(t, struct{ Other string }{}))
	if err != nil || strings.Join(set.Names(), " ") != "account other" {
		t.Errorf("got %v, %v", set.Names(), err)
	}
	if _, ok := set.Get("Other"); !ok {
		t.Error("what was merged is not found")
	}
	a := Config{"x": 1, "y": 1}
	if got := a.Merge(Config{"y": 2}); got["x"] != 1 || got["y"] != 2 || a["y"] != 1 {
		t.Errorf("got %v of %v", got, a)
	}
}

func TestConfigIsRedacted(t *testing.T) {
	cfg := Config{"api_key": "hunter2hunter2", "env": map[string]string{"AWS_SECRET_ACCESS_KEY": "hunter2hunter2"}, "args": []string{"--password=hunter2hunter2"}, "n": int64(3)}
	body, err := json.Marshal(cfg.Redacted())
	if err != nil || strings.Contains(string(body), "hunter2") || !strings.Contains(string(body), `"n":3`) {
		t.Errorf("got %s, %v", body, err)
	}
}

// What is written is read back, and nothing makes the parser fall over.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "name=v", "nodes=a,b;name=c", `name="a\"b",nodes='x,y'`, "envs=a:b,c:'d,e'", "nodes=[]", "envs={}", "name=", "a=b=c", ",", "name=a,,", `name="`, "envs=a:\"b\"c",
	} {
		f.Add(text)
	}
	set := setOf(f, someOptions{})
	f.Fuzz(func(t *testing.T, text string) { checkReadBack(t, set, text) })
}

// The same with texts of pieces that mean something, which chance alone seldom makes.
func TestConfigReadBack(t *testing.T) {
	r, set := rounds(t), setOf(t, someOptions{})
	for range 20000 {
		checkReadBack(t, set, words(r, "name=", "nodes=", "envs=", ",", ";", ":", "a", `"`, `'`, `\`, " ", "=", "b,c", "k:v", "[]", "{}", "\n", "é"))
	}
}

func checkReadBack(t *testing.T, set *OptionSet, text string) {
	t.Helper()
	cfg, err := set.Parse(text)
	if err != nil {
		if !errors.Is(err, store.ErrInvalid) {
			t.Fatalf("%q: the error has no kind: %v", text, err)
		}
		return
	}
	var pairs []string
	for name, value := range cfg {
		pairs = append(pairs, name+"="+FormatOption(value))
	}
	written := strings.Join(pairs, ",")
	if again, err := set.Parse(written); err != nil || !reflect.DeepEqual(again, cfg) {
		t.Errorf("%q reads %#v, written %q, which reads %#v, %v", text, cfg, written, again, err)
	}
}
