package runner

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// words makes texts of pieces that mean something to a parser.
func words(r *rand.Rand, pieces ...string) string {
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func rounds(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
}

// Macros are replaced as TorchX replaces them, but for base_img_root, which it calls
// deprecated.
func TestMacrosAsTorchX(t *testing.T) {
	x, r := askTorchX(t), rounds(t)
	values := Macros{ImgRoot: "/img", AppID: "app-1", ReplicaID: "3", Rank0Env: "R0"}
	given := map[string]string{"img_root": "/img", "app_id": "app-1", "replica_id": "3", "rank0_env": "R0"}
	for range storetest.Rounds(4000) {
		text := words(r, "$", "{", "}", "app_id", "${app_id}", "replica_id", "${rank0_env}", "$img_root", "x", "_", "0", "é", "K", "ı", " ", "\n", "APP_ID", "$$")
		var want string
		x.ask("substitute", map[string]any{"values": given, "text": text}).into(t, &want)
		if got := values.Substitute(text); got != want {
			t.Errorf("%q becomes %q, in TorchX %q", text, got, want)
		}
		if got := values.Substitute(EscapeMacros(text)); got != text {
			t.Errorf("escaped, %q becomes %q", text, got)
		}
	}
}

func TestMacrosInRoleAsTorchX(t *testing.T) {
	x := askTorchX(t)
	question := map[string]any{
		"values": map[string]string{"img_root": "/img", "app_id": "app-1", "replica_id": "3", "rank0_env": "R0"},
		"args":   []string{"${app_id}", "$replica_id", "$$x"},
		"env":    map[string]string{"${app_id}": "${img_root}/${replica_id}"},
		"metadata": map[string]any{
			"a": "${app_id}", "${app_id}": 1, "deep": map[string]any{"b": []any{"${replica_id}", 2, "x"}, "c": map[string]any{"d": "$rank0_env"}}, "n": nil, "f": 1.5,
		},
	}
	body, err := json.Marshal(question["metadata"])
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := pyjson.UnmarshalObject(body)
	if err != nil {
		t.Fatal(err)
	}
	role := Role{Args: question["args"].([]string), Env: question["env"].(map[string]string), Metadata: metadata}
	applied := Macros{"/img", "app-1", "3", "R0"}.Apply(role)
	got, err := json.Marshal(map[string]any{"args": applied.Args, "env": applied.Env, "metadata": applied.Metadata})
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs any
	x.ask("apply", question).into(t, &theirs)
	if err := json.Unmarshal(got, &ours); err != nil || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("it becomes %v, in TorchX %v (%v)", ours, theirs, err)
	}
	if role.Args[0] != "${app_id}" || role.Metadata.Text("a") != "${app_id}" {
		t.Error("the role that was given is changed")
	}
}

// What reads as a handle here does so in TorchX, in the same parts. The reverse does
// not hold: a part with a slash or a line break is refused, and TorchX 0.7 has no
// handles with an empty session.
func TestHandlesAsTorchX(t *testing.T) {
	x, r := askTorchX(t), rounds(t)
	both := 0
	for range storetest.Rounds(4000) {
		text := words(r, "local://", "local://torchx/", "://", "/", ":", "torchx", "app-1", "a", " ", "é", "\n")
		h, err := ParseHandle(text)
		theirs := x.ask("handle", map[string]any{"text": text})
		switch {
		case err == nil && theirs.Error == "":
			var parts []string
			theirs.into(t, &parts)
			if want := []string{h.Scheduler, h.Session, h.App}; !slices.Equal(parts, want) {
				t.Errorf("%q reads %q, in TorchX %q", text, want, parts)
			}
			if h.String() != text {
				t.Errorf("%q is written %q", text, h)
			}
			both++
		case err == nil && h.Session != "":
			t.Errorf("%q reads %+v, in TorchX %s", text, h, theirs.Text)
		case err != nil && theirs.Error == "" && !greedy(text):
			t.Errorf("%q is refused (%v), in TorchX %s", text, err, theirs.Value)
		case err != nil && theirs.Error != "" && !strings.Contains(text, "\n") && !strings.Contains(err.Error(), strings.TrimPrefix(theirs.Text, text)):
			t.Errorf("%q: %v, in TorchX %s", text, err, theirs.Text)
		}
	}
	if both == 0 {
		t.Error("no handle was tried")
	}
}

// greedy says whether TorchX reads a part that holds a delimiter.
func greedy(text string) bool {
	return strings.Count(text, "/") > 3 || strings.Contains(text, "\n") || strings.Count(text, ":") > 1
}

// Roles are refused in TorchX's words.
func TestValidationAsTorchX(t *testing.T) {
	x := askTorchX(t)
	good := Role{Name: "r", Image: "img", Entrypoint: "e", NumReplicas: 1}
	with := func(change func(*Role)) App {
		role := good
		change(&role)
		return App{Name: "app", Roles: []Role{role}}
	}
	for _, app := range []App{
		{Name: "app"},
		with(func(r *Role) { r.NumReplicas = 0 }),
		with(func(r *Role) { r.NumReplicas = -1 }),
		with(func(r *Role) { r.Entrypoint = "" }),
	} {
		roles := []map[string]any{}
		for _, r := range app.Roles {
			roles = append(roles, map[string]any{"name": r.Name, "image": r.Image, "entrypoint": r.Entrypoint, "num_replicas": r.NumReplicas})
		}
		theirs := x.ask("validate", map[string]any{"app": map[string]any{"name": app.Name, "roles": roles}})
		if err := app.Validate(); err == nil || err.Error() != theirs.Text || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v, in TorchX %s", app, err, theirs.Text)
		}
	}
	// 0.7 names the image alone; later ones both, as here.
	theirs := x.ask("no_resource", nil)
	if err := noResource(&Role{Name: "r", Image: "img"}); err.Error() != strings.Replace(theirs.Text, "role: img", "role: r (image: img)", 1) {
		t.Errorf("%v, in TorchX %s", err, theirs.Text)
	}
	h := Handle{"local", "s", "a"}
	if err, theirs := unknownApp(h), x.ask("unknown", map[string]any{"handle": h.String()}); err.Error() != theirs.Text {
		t.Errorf("%v, in TorchX %s", err, theirs.Text)
	}
	r, err := New("", []Backend{{Name: "local"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Scheduler(t.Context(), "bogus")
	if theirs := x.ask("unknown", map[string]any{"scheduler": "bogus"}); err == nil || !strings.HasPrefix(err.Error(), theirs.Text) || !errors.Is(err, store.ErrNotExist) {
		t.Errorf("%v, in TorchX %s", err, theirs.Text)
	}
}

func TestStatesAsTorchX(t *testing.T) {
	var theirs map[string][]any
	askTorchX(t).ask("states", nil).into(t, &theirs)
	for _, s := range tracker.States() {
		want, ok := theirs[string(s)]
		if !ok {
			if s != tracker.Lost || s.Number() != 8 {
				t.Errorf("TorchX has no state %s", s)
			}
			continue
		}
		if got := []any{float64(s.Number()), s.Terminal(), s.HasStarted()}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, in TorchX %v", s, got, want)
		}
		delete(theirs, string(s))
	}
	if len(theirs) > 0 {
		t.Errorf("TorchX has also %v", theirs)
	}
}

func TestMountsAsTorchX(t *testing.T) {
	x := askTorchX(t)
	for _, args := range [][]string{
		{"type=bind", "src=/a", "dst=/b"}, {"type=bind", "source=/a", "target=/b", "readonly"}, {"type=bind", "src=/a", "destination=/b", "read_only"},
		{"type=volume", "src=v", "dst=/b", "type=bind", "src=/x", "dst=/y"}, {"type=device", "src=/dev/x"},
		{"type=device", "src=/dev/x", "dst=/dev/y", "perm=rw"}, {}, {"src=/a", "type=bind", "dst=/b"}, {"type=bind", "src=/a"}, {"type=bogus", "src=/a", "dst=/b"},
		{"type=bind", "src=/a", "dst=/b", "what=1"},
	} {
		mounts, err := ParseMounts(args)
		theirs := x.ask("mounts", map[string]any{"args": args})
		if err != nil || theirs.Error != "" {
			if (err == nil) != (theirs.Error == "") || err != nil && !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%q: %v, in TorchX %s %s", args, err, theirs.Error, theirs.Text)
			}
			continue
		}
		var want []map[string]any
		theirs.into(t, &want)
		got := []map[string]any{}
		for _, m := range mounts {
			switch m.Type {
			case MountBind:
				got = append(got, map[string]any{"type": "BindMount", "src_path": m.Src, "dst_path": m.Dst, "read_only": m.ReadOnly})
			case MountVolume:
				got = append(got, map[string]any{"type": "VolumeMount", "src": m.Src, "dst_path": m.Dst, "read_only": m.ReadOnly})
			case MountDevice:
				perm := m.Permissions
				if perm == "" {
					perm = DefaultPermissions
				}
				got = append(got, map[string]any{"type": "DeviceMount", "src_path": m.Src, "dst_path": m.Dst, "permissions": perm})
			}
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q reads %v, in TorchX %v", args, got, want)
		}
	}
}
