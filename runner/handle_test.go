package runner

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func TestHandle(t *testing.T) {
	for text, want := range map[string]*Handle{
		"local://torchx/app-1":  {"local", "torchx", "app-1"},
		"a:///c":                {"a", "", "c"},
		"k8s://s/ns:job":        {"k8s", "s", "ns:job"},
		"slurm://my session/12": {"slurm", "my session", "12"},
		"a://b/c/d":             nil, // TorchX: session b/c
		"a://b://c/d":           nil, // TorchX: scheduler a://b
		"a://b/c\n":             nil, // TorchX drops the line break
		"a://b":                 nil, "a://b/": nil, "://b/c": nil, "": nil, "a/b/c": nil, "a:b://c/d": nil, "a://b/\x00": nil, "a://b/\xff": nil,
		"a://b/..": nil, "a://b/.": nil, "a://../c": nil, "..://b/c": nil, "a://b/../c": nil, // in TorchX apps and sessions
		"a://b/..c": {"a", "b", "..c"},
	} {
		got, err := ParseHandle(text)
		switch {
		case want == nil && (!errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "is not of the form: <scheduler_backend>://<session_name>/<app_id>")):
			t.Errorf("%q: got %+v, %v", text, got, err)
		case want != nil && (err != nil || got != *want || got.String() != text || string(got.RunID()) != text):
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	body, err := json.Marshal(map[string]Handle{"a": {"s", "t", "u"}, "none": {}})
	if err != nil || string(body) != `{"a":"s://t/u","none":""}` {
		t.Errorf("got %s, %v", body, err)
	}
	var back map[string]Handle
	if err := json.Unmarshal(body, &back); err != nil || back["a"] != (Handle{"s", "t", "u"}) || back["none"] != (Handle{}) {
		t.Errorf("got %v, %v", back, err)
	}
}

func TestParseReplicas(t *testing.T) {
	for _, c := range []struct {
		text, role string
		replicas   []int
		bad        bool
	}{
		{"s://t/u", "", nil, false}, {"s://t/u/r", "r", nil, false}, {"s://t/u/r/0", "r", []int{0}, false}, {"s:///u/r/0,12", "r", []int{0, 12}, false},
		{"local-x://t/u/r", "r", nil, false}, // refused by TorchX, whose schedulers may have a "-" too
		{"s://t/u/", "", nil, true}, {"s://t/u/r/", "", nil, true}, {"s://t/u/r/x", "", nil, true}, {"s://t/u/r/-1", "", nil, true},
		{"s://t/u/r/0,", "", nil, true}, {"s://t/u/r/01", "", nil, true}, {"s://t/u/r/0/x", "", nil, true}, {"s://t", "", nil, true}, {"u", "", nil, true}, {"", "", nil, true},
	} {
		h, role, replicas, err := ParseReplicas(c.text)
		if c.bad {
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%q: got %v %q %v, %v", c.text, h, role, replicas, err)
			}
			continue
		}
		if err != nil || h.App != "u" || role != c.role || !reflect.DeepEqual(replicas, c.replicas) {
			t.Errorf("%q: got %v %q %v, %v", c.text, h, role, replicas, err)
		}
	}
}

func FuzzHandle(f *testing.F) {
	for _, text := range []string{"local://torchx/app-1", "a:///c", "a://b/c/d", "a://b://c/d", "s://t/u/r/0,1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandle(text)
		if err == nil && h.String() != text {
			t.Errorf("%q is read as %+v and written %q", text, h, h)
		}
		full, role, _, replicasErr := ParseReplicas(text)
		if err == nil && (replicasErr != nil || full != h || role != "") {
			t.Errorf("%q: as a handle %+v, with replicas %+v %q, %v", text, h, full, role, replicasErr)
		}
		for _, e := range []error{err, replicasErr} {
			if e != nil && !errors.Is(e, store.ErrInvalid) {
				t.Errorf("%q: the error has no kind: %v", text, e)
			}
		}
	})
}

func FuzzMounts(f *testing.F) {
	f.Add("type=bind,src=/a,dst=/b,readonly")
	f.Add("type=device,src=/dev/x,perm=r")
	f.Add("type=volume,source=v,target=/x,readonly=false,type=bind")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, err := ParseMounts([]string{text})
		if err != nil && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: the error has no kind: %v", text, err)
		}
		for _, m := range mounts {
			if err := m.check(); err != nil || m.Dst == "" {
				t.Errorf("%q reads %+v, %v", text, m, err)
			}
		}
	})
}

func FuzzReplicaError(f *testing.F) {
	f.Add(`{"message": {"message": "boom", "errorCode": 1, "extraInfo": {"timestamp": "1600000000"}}}`)
	f.Add(`{"message": "boom", "errorCode": 1, "timestamp": 1600000000}`)
	f.Add(`{"message": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		if e := ParseReplicaError([]byte(text)); e == nil || e.Raw != "" && (e.Raw != text || e.Message != "") {
			t.Errorf("%q reads %+v", text, e)
		}
	})
}
