package component_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/component"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// cases are command lines that TorchX's components take as well.
var cases = [][]string{
	{"utils.echo"},
	{"utils.echo", "--msg", "it's $HOME", "--num_replicas", "3"},
	{"utils.touch", "--file", "/tmp/x y"},
	{"utils.sh", "echo", "a b", "$(id)", "it's", ""},
	{"utils.sh", "--num_replicas=2", "--cpu", "4", "--gpu", "1", "--memMB", "2048", "--env", "A=1,2,B=x y,LOGLEVEL=INFO", "--max_retries", "2", "--", "ls", "-l"},
	{"utils.sh", "-h", "gpu.medium", "--mounts", "type=bind,src=/a,dst=/b,readonly,type=volume,src=v,dst=/v,type=device,src=/dev/null", "true"},
	{"utils.python", "--script", "dir/train.py", "--", "--lr", "0.1"},
	{"utils.python", "-m", "pkg.main", "--name", "job", "-h", "cpu.small", "x"},
	{"utils.python", "-c", "print('a; b')", "--num_replicas", "2"},
	{"utils.binary", "--entrypoint", "/bin/ls", "--name", "list", "--", "-l", "a b"},
	{"utils.copy", "--src", "/a", "--dst", "s3://b/c"},
	{"dist.ddp", "--script", "dir/main.py"},
	{"dist.ddp", "-j", "2x4", "--script", "main.py", "--name", "exp/", "--", "--lr", "it's 0.1"},
	{"dist.ddp", "-j", "1:2x4", "-m", "a.b.c", "--name", "run", "--rdzv_port", "1234", "--max_retries", "3", "--debug", "True"},
	{"dist.ddp", "-j", "3", "--script", ".hidden", "--name", "/r", "--rdzv_backend", "static", "--tee", "0"},
	{"dist.ddp", "-j", "2x1", "--script", "a.b.py", "--rdzv_backend", "static", "-h", "gpu.small", "--env", "A=1"},
	{"dist.spmd", "-j", "2x2", "-h", "gpu.medium", "--script", "a/main.py", "--name", "e/r", "--", "--x", "1"},
	{"dist.spmd", "-j", "2", "-h", "gpu.medium", "-m", "a.main"},
}

// exceptions are what is not as in TorchX, by component and field of its role, and why.
var exceptions = map[string]map[string]string{
	"utils.copy": {
		"entrypoint": "TorchX starts python -m torchx.apps.utils.copy_main; heirloom copies by itself, over any of its stores",
		"args":       "likewise",
	},
	"dist.spmd": {
		"entrypoint": "TorchX starts torchrun, which needs torch; heirloom starts the ranks itself",
		"args":       "likewise",
	},
}

// plain brings an App to what TorchX's AppDef is compared as.
func plain(t *testing.T, app runner.App) map[string]any {
	t.Helper()
	roles := []any{}
	for _, r := range app.Roles {
		mounts := []any{}
		for _, m := range r.Mounts {
			switch m.Type {
			case runner.MountBind:
				mounts = append(mounts, map[string]any{"type": "bind", "src_path": m.Src, "dst_path": m.Dst, "read_only": m.ReadOnly})
			case runner.MountVolume:
				mounts = append(mounts, map[string]any{"type": "volume", "src": m.Src, "dst_path": m.Dst, "read_only": m.ReadOnly})
			case runner.MountDevice:
				mounts = append(mounts, map[string]any{"type": "device", "src_path": m.Src, "dst_path": m.Dst, "permissions": cmpOr(m.Permissions, runner.DefaultPermissions)})
			}
		}
		roles = append(roles, map[string]any{
			"name": r.Name, "image": r.Image, "entrypoint": r.Entrypoint, "args": append([]string{}, r.Args...), "env": orEmpty(r.Env),
			"num_replicas": r.NumReplicas, "min_replicas": r.MinReplicas, "max_retries": r.MaxRetries, "retry_policy": r.Policy(),
			"resource": map[string]any{"cpu": r.Resource.CPU, "gpu": r.Resource.GPU, "memMB": r.Resource.MemMB},
			"port_map": orNone(r.PortMap), "mounts": mounts,
		})
	}
	body, err := json.Marshal(map[string]any{"name": app.Name, "roles": roles, "metadata": orEmpty(app.Metadata)})
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func orNone(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}

// update writes the file anew: go test ./runner/component -run TorchXItself -update
var update = flag.Bool("update", false, "write the golden file anew")

const golden = "testdata/torchx.json"

// Each built-in component makes the App that TorchX makes of the same arguments, but for the exceptions. What TorchX
// makes is kept in a file.
func TestAsTorchX(t *testing.T) {
	body, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(cases) {
		t.Fatalf("%d apps in %s, want %d: -update makes it anew", len(want), golden, len(cases))
	}
	set := component.Set{}
	for i, c := range cases {
		t.Run(strings.Join(c, " "), func(t *testing.T) {
			got := plain(t, make1(t, set, c...))
			for field := range exceptions[c[0]] {
				ours, theirs := role0(got)[field], role0(want[i])[field]
				if reflect.DeepEqual(ours, theirs) {
					t.Errorf("%s of %s is as in TorchX: it is no exception", field, c[0])
				}
				role0(got)[field] = theirs
			}
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("got  %s\nwant %s", jsonOf(got), jsonOf(want[i]))
			}
		})
	}
}

// The file holds what TorchX itself makes today.
func TestTorchXItself(t *testing.T) {
	python := servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/appdefs.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "PYTHONWARNINGS=ignore"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, '\n')
	if *update {
		if err := os.WriteFile(golden, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, out) {
		t.Errorf("%s is not what TorchX makes; -update makes it anew", golden)
	}
}

func role0(app map[string]any) map[string]any { return app["roles"].([]any)[0].(map[string]any) }

func make1(t *testing.T, set component.Set, words ...string) runner.App {
	t.Helper()
	c, err := set.Find(words[0])
	if err != nil {
		t.Fatal(err)
	}
	values, err := c.ParseArgs(words[1:])
	if err != nil {
		t.Fatal(err)
	}
	app, err := c.App(values)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func jsonOf(v any) string {
	body, _ := json.MarshalIndent(v, "", " ")
	return string(body)
}
