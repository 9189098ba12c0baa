package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestPlanRefuses(t *testing.T) {
	r := newRunner(t, &scripted{}, "", nil)
	with := func(change func(*runner.Request)) runner.Request {
		request := runner.Request{App: oneRole()}
		change(&request)
		return request
	}
	for name, c := range map[string]struct {
		request runner.Request
		kind    error
		says    string
	}{
		"scheduler":   {with(func(q *runner.Request) { q.Scheduler = "script" }), store.ErrNotExist, "Scheduler backend: script does not exist. Use session.scheduler_backends() to see all supported schedulers (did you mean scripted?): scripted"},
		"resource":    {with(func(q *runner.Request) { q.App.Roles[0].Resource = runner.Resource{} }), store.ErrInvalid, "No resource for role: r (image: img). Did you forget to attach resource to the role"},
		"option":      {with(func(q *runner.Request) { q.Config = runner.Config{"que": 1} }), store.ErrInvalid, "unknown run option que (did you mean queue?)"},
		"dir":         {with(func(q *runner.Request) { q.Dir = "relative" }), store.ErrInvalid, "is not absolute"},
		"run id":      {with(func(q *runner.Request) { q.RunID = "a\nb" }), store.ErrInvalid, "control character"},
		"workspace":   {with(func(q *runner.Request) { q.Workspace = []runner.WorkspaceDir{{From: "/w"}} }), store.ErrUnsupported, "nothing here keeps workspaces"},
		"slash":       {with(func(q *runner.Request) { q.App.Name = "../../x" }), store.ErrInvalid, "holds a slash"},
		"dots":        {with(func(q *runner.Request) { q.App.Roles[0].Name = ".." }), store.ErrInvalid, "means a directory"},
		"newline":     {with(func(q *runner.Request) { q.App.Roles[0].Name = "a\nb" }), store.ErrInvalid, "holds a control character"},
		"NUL":         {with(func(q *runner.Request) { q.App.Roles[0].Args[0] = "a\x00" }), store.ErrInvalid, "holds a NUL byte"},
		"environment": {with(func(q *runner.Request) { q.App.Roles[0].Env["A=B"] = "" }), store.ErrInvalid, `"A=B" cannot be set`},
		"port":        {with(func(q *runner.Request) { q.App.Roles[0].PortMap = map[string]int{"p": 70000} }), store.ErrInvalid, "not from 1 to 65535"},
		"policy":      {with(func(q *runner.Request) { q.App.Roles[0].RetryPolicy = "HOT_SPARE" }), store.ErrInvalid, "known: REPLICA, APPLICATION, ROLE"},
		"fewest":      {with(func(q *runner.Request) { q.App.Roles[0].MinReplicas = 2 }), store.ErrInvalid, "min_replicas is 2"},
		"retries":     {with(func(q *runner.Request) { q.App.Roles[0].MaxRetries = -1 }), store.ErrInvalid, "max_retries is -1"},
		"memory":      {with(func(q *runner.Request) { q.App.Roles[0].Resource.MemMB = -1 }), store.ErrInvalid, "memMB is -1"},
		"mount":       {with(func(q *runner.Request) { q.App.Roles[0].Mounts = []runner.Mount{{Type: "bind", Src: "/a"}} }), store.ErrInvalid, "it has no dst"},
		"outside": {with(func(q *runner.Request) {
			q.App.Roles[0].Workspace = []runner.WorkspaceDir{{From: "/a", To: "x/../../y"}}
		}), store.ErrUnsupported, "nothing here keeps workspaces"},
		"component": {runner.Request{App: runner.App{Name: "a"}}, store.ErrInvalid, "No roles for app: a. Did you forget to add roles to AppDef?"},
	} {
		_, err := r.Plan(t.Context(), c.request)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := r.RunComponent(t.Context(), runner.ComponentRequest{Component: "x"}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	for _, session := range []string{"a/b", "a b", "ü"} {
		if _, err := runner.New(session, []runner.Backend{{Name: "scripted"}}, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("session %q: %v", session, err)
		}
	}
}

// A run's id is its handle; of an id in another form a handle is made, another for each.
func TestHandleOfRun(t *testing.T) {
	r := newRunner(t, &scripted{}, "mine", nil)
	seen := map[runner.Handle]bool{}
	for id, want := range map[tracker.RunID]string{
		"scripted://theirs/x-1": "scripted://theirs/x-1", "exp-7": "scripted://mine/exp-7", "other://theirs/x-1": "", "exp/7": "", "exp:7": "", "..": "", "é": "",
	} {
		plan, err := r.Plan(t.Context(), runner.Request{App: oneRole(), RunID: id})
		if err != nil || plan.RunID != id || want != "" && plan.Handle.String() != want || plan.Handle.Scheduler != "scripted" {
			t.Fatalf("%s: got %+v, %v", id, plan, err)
		}
		if _, err := runner.ParseHandle(plan.Handle.String()); err != nil || seen[plan.Handle] || strings.Trim(plan.Handle.App, ".") == "" {
			t.Errorf("%s has the handle %s, %v", id, plan.Handle, err)
		}
		seen[plan.Handle] = true
	}
	plan, err := r.Plan(t.Context(), runner.Request{App: oneRole()})
	if err != nil || string(plan.RunID) != plan.Handle.String() || !strings.HasPrefix(string(plan.RunID), "scripted://mine/app-") {
		t.Errorf("got %+v, %v", plan, err)
	}
}

func TestPlanJSON(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	r := newRunner(t, &scripted{}, "", &runner.Options{Now: func() time.Time { return now }})
	app := oneRole()
	app.Roles[0].Metadata = pyjson.NewObject(pyjson.Member{Key: "scripted.big", Value: int64(1 << 60)})
	plan, err := r.Plan(t.Context(), runner.Request{
		App: app, RunID: "scripted://torchx/app-1", Dir: "/d", Config: runner.Config{"api_key": "hunter2hunter2"},
		Recording: runner.Recording{Store: "s3://b/p", Grace: time.Second, Sources: []tracker.Source{{ID: "a"}}, Params: pyjson.NewObject(pyjson.Member{Key: "lr", Value: 0.1})},
	})
	if err != nil {
		t.Fatal(err)
	}
	plan.Launch = "L"
	body, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"run_id":"scripted://torchx/app-1","handle":"scripted://torchx/app-1","launch":"L","scheduler":"scripted","session":"torchx",` +
		`"app":{"name":"app","roles":[{"name":"r","image":"img","entrypoint":"sh","args":["-c","x","--password=hunter2hunter2"],` +
		`"env":{"API_KEY":"hunter2hunter2","N":"1"},"num_replicas":1,"resource":{"cpu":1,"gpu":0,"memMB":0},"metadata":{"scripted.big": 1152921504606846976}}]},` +
		`"options":{"api_key":"hunter2hunter2","queue":"main"},"dir":"/d","planned":"2026-11-21T12:00:00.000000005Z",` +
		`"recording":{"store":"s3://b/p","params":{"lr": 0.1},"sources":[{"ID":"a","Artifact":"","Role":"","URI":"","Name":"","Version":"","Digest":"","Time":"0001-01-01T00:00:00Z"}],"grace_ns":1000000000},` +
		`"request":["submit","app"]}`
	if got, want := compact(t, body), compact(t, []byte(want)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	back, err := runner.ReadPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, body) {
		t.Errorf("read back it is\n%s, %v", again, err)
	}
	shown, err := json.Marshal(plan.Redacted())
	if err != nil || strings.Contains(string(shown), "hunter2") || !strings.Contains(string(shown), `"N":"1"`) || plan.App.Roles[0].Env["API_KEY"] != "hunter2hunter2" {
		t.Errorf("shown as %s, %v", shown, err)
	}
	for body, kind := range map[string]error{`{`: store.ErrCorrupt, `{}`: store.ErrCorrupt, `{"version": 2}`: store.ErrUnsupported, `{"version": 1, "handle": "x"}`: store.ErrCorrupt} {
		if _, err := runner.ReadPlan([]byte(body)); !errors.Is(err, kind) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func compact(t *testing.T, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return b.String()
}
