package runner

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// someOptions are of every type that TorchX has.
type someOptions struct {
	Name  string            `opt:"name" help:"a name"`
	Count int               `opt:"count" default:"3" help:"how many"`
	Ratio float64           `opt:"ratio" default:"0.5" help:"of what"`
	Quick bool              `opt:"quick" default:"false" help:"or not"`
	Nodes []string          `opt:"nodes" help:"which"`
	Envs  map[string]string `opt:"envs" help:"of the job"`
	Queue string            `opt:"queue" required:"true" help:"where"`
}

func setOf(t testing.TB, structure any) *OptionSet {
	t.Helper()
	set, err := OptionsOf(structure)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// asTorchX describes options to TorchX.
func asTorchX(set *OptionSet) []map[string]any {
	var list []map[string]any
	for _, o := range set.List() {
		list = append(list, map[string]any{"name": o.Name, "type": o.Type, "help": o.Help, "default": o.Default, "required": o.Required})
	}
	return list
}

func sameJSON(t *testing.T, a any, b json.RawMessage) bool {
	t.Helper()
	body, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var x, y any
	if json.Unmarshal(body, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("not JSON: %s, %s", body, b)
	}
	return reflect.DeepEqual(x, y)
}

// What is well-formed means what it means in TorchX.
func TestConfigAsTorchX(t *testing.T) {
	x, set := askTorchX(t), setOf(t, someOptions{})
	for _, text := range []string{
		"", "name=v", "name=v,count=4", "name=v;count=4", "nodes=a", "nodes=a,b", "nodes=a;b", "nodes=a,b,name=v", "nodes=a;b;name=v", "nodes=a;b,name=v",
		"nodes=a,b,", "envs=a:b", "envs=a:b,c:d,name=x", "envs=a:b;c:d:e", "ratio=2", "ratio=1e3", "count=-4", "quick=true", "quick=TRUE", "quick=false",
		"name=a,b,count=3", "name=a b", " name = v , count = 4 ", `name=""`, "name=''", "name=a:b", "name=http://h:80/p?q",
	} {
		cfg, err := set.Parse(text)
		theirs := x.ask("config", map[string]any{"options": asTorchX(set), "text": text})
		if err != nil || theirs.Error != "" || !sameJSON(t, cfg, theirs.Value) {
			t.Errorf("%q reads %v, %v; in TorchX %s %s", text, cfg, err, theirs.Value, theirs.Text)
		}
	}
}

// The accidents of TorchX's grammar. What it makes of each is seen to be still so, lest
// an exception outlives its reason.
func TestConfigAccidents(t *testing.T) {
	x, set := askTorchX(t), setOf(t, someOptions{})
	for _, c := range []struct {
		text, theirs string // value, or the name of the exception
		ours         Config // nil = refused
		why          string // part of the refusal
	}{
		{"name", "ValueError", nil, "does not have at least one `key=value` pair"},
		{"name=", "ValueError", nil, "has no value"},
		{"=x", "ValueError", nil, "does not have at least one `key=value` pair"},
		{"name=a=b", "ValueError", Config{"name": "a=b"}, ""},
		{`name="a,b;c=d",count=4`, `{"name": "\"a,b", "count": 4}`, Config{"name": "a,b;c=d", "count": int64(4)}, ""},
		{`name='it is "so"'`, `{"name": "'it is \"so\"'"}`, Config{"name": `it is "so"`}, ""},
		{"name=a,count=", `{"name": "a,count"}`, nil, "has no value"},
		{"name=1,,count=2", `{"name": "1,", "count": 2}`, nil, "nothing between two delimiters"},
		{`name=__QUOTED_0__,queue="z"`, `{"name": "__QUOTED_0__", "queue": "\"z\""}`, Config{"name": "__QUOTED_0__", "queue": "z"}, ""},
		{"envs=a", "IndexError", nil, "has no colon"},
		{"quick=yes", `{"quick": false}`, Config{"quick": true}, ""},
		{"quick=maybe", `{"quick": false}`, nil, "must be of type: bool"},
		{"count=x", "ValueError", nil, "must be of type: int"},
		{"unknown=1", `{}`, nil, "unknown run option unknown"},
		{"name=a,name=b", `{"name": "b"}`, nil, "given twice"},
		{"nodes=a,b=c", `{"nodes": ["a"]}`, nil, "unknown run option b"},
		{`nodes=a,"b=c"`, `{"nodes": ["a"]}`, Config{"nodes": []string{"a", "b=c"}}, ""},
		{"nodes=[]", `{"nodes": ["[]"]}`, Config{"nodes": []string{}}, ""},
		{"ratio=nan", `{"ratio": NaN}`, nil, "must be of type: float"},
	} {
		cfg, err := set.Parse(c.text)
		switch {
		case c.ours == nil && (err == nil || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%q reads %v, %v; want a refusal because of %q", c.text, cfg, err, c.why)
		case c.ours != nil && (err != nil || !reflect.DeepEqual(cfg, c.ours)):
			t.Errorf("%q reads %#v, %v; want %#v", c.text, cfg, err, c.ours)
		}
		if c.text == "ratio=nan" {
			continue // what TorchX answers is no JSON
		}
		theirs := x.ask("config", map[string]any{"options": asTorchX(set), "text": c.text})
		if got := string(theirs.Value) + theirs.Error; got != c.theirs {
			t.Errorf("%q in TorchX is %s (%s), not %s as we thought", c.text, got, theirs.Text, c.theirs)
		}
	}
}

func TestResolveAsTorchX(t *testing.T) {
	x, set := askTorchX(t), setOf(t, someOptions{})
	for _, c := range []struct {
		given  Config
		ours   string // part of the refusal, "" = the same as in TorchX
		theirs string // the name of the exception
	}{
		{Config{"queue": "q"}, "", ""},
		{Config{"queue": "q", "count": 9, "ratio": 0.25, "quick": true, "nodes": []string{"a"}, "envs": map[string]string{"a": "b"}, "name": "n"}, "", ""},
		{Config{}, "Required run option: queue, must be provided and not `None`", "InvalidRunConfigException"},
		{Config{"queue": nil}, "Required run option: queue, must be provided and not `None`", "InvalidRunConfigException"},
		{Config{"queue": 3}, "Run option: queue, must be of type: str, but was: 3 (int)", "InvalidRunConfigException"},
		{Config{"queue": "q", "ratio": "x"}, "Run option: ratio, must be of type: float", "InvalidRunConfigException"},
		{Config{"queue": "q", "nodes": []any{1}}, "Run option: nodes, must be of type: list[str]", "InvalidRunConfigException"},
		{Config{"queue": "q", "count": true}, "Run option: count, must be of type: int, but was: true (bool)", ""}, // Python's True is an int
		{Config{"queue": "q", "other": "x"}, "unknown run option other", ""},                                       // kept by TorchX
	} {
		resolved, err := set.Resolve(c.given)
		theirs := x.ask("resolve", map[string]any{"options": asTorchX(set), "config": c.given})
		if theirs.Error != c.theirs {
			t.Errorf("%v: TorchX says %s %s %s", c.given, theirs.Value, theirs.Error, theirs.Text)
		}
		if c.ours == "" && (err != nil || !sameJSON(t, resolved, theirs.Value)) || c.ours != "" && (err == nil || !strings.Contains(err.Error(), c.ours)) {
			t.Errorf("%v resolves to %v, %v; in TorchX %s", c.given, resolved, err, theirs.Value)
		}
	}
	// Named exceptions: an int is taken for a float, and a nil stays although there is a default.
	resolved, err := set.Resolve(Config{"queue": "q", "ratio": 2, "count": nil})
	if err != nil || resolved["ratio"] != 2.0 || resolved["count"] != nil {
		t.Errorf("got %v, %v", resolved, err)
	}
}

// The usage is TorchX's, but for the names of its own types and the words of Python.
func TestUsageAsTorchX(t *testing.T) {
	var theirs string
	set := setOf(t, someOptions{})
	askTorchX(t).ask("usage", map[string]any{"options": asTorchX(set)}).into(t, &theirs)
	theirs = strings.NewReplacer("typing.List[str]", "list[str]", "typing.Dict[str, str]", "dict[str, str]", "False", "false").Replace(theirs)
	if got := set.Usage(); got != theirs {
		t.Errorf("got\n%s\nin TorchX\n%s", got, theirs)
	}
}
