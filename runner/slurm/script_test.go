package slurm

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

var update = flag.Bool("update", false, "write the golden files")

func planned(app runner.App, cfg runner.Config) *runner.Plan {
	return &runner.Plan{
		Version: 1, RunID: "slurm://torchx/train-bcd1", Handle: runner.Handle{Scheduler: Name, Session: "torchx", App: "train-bcd1"},
		Launch: "L1", Scheduler: Name, Session: "torchx", App: app, Options: cfg, Dir: "/work/dir", Planned: time.Unix(0, 0).UTC(),
	}
}

func newScheduler(t *testing.T) *Scheduler {
	t.Helper()
	s, err := New(Options{StateDir: "/home/ann/.local/state/heirloom/slurm"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScripts(t *testing.T) {
	body := filepath.Join(t.TempDir(), "train.sbatch")
	text := "#!/bin/bash -l\n#SBATCH --nodes=2\n# a comment\n\n#SBATCH --output=mine-%j.out\nmodule load cuda\n#SBATCH --nodes=9\nsrun python train.py \"$@\"\n"
	if err := os.WriteFile(body, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	trainer := runner.Role{Name: "trainer", Entrypoint: "python", Args: []string{"-m", "it's", "a\nb"}, NumReplicas: 4,
		Env: map[string]string{"A": "x,y z"}, Resource: runner.Resource{CPU: 4, GPU: 1, MemMB: 8000}}
	reader := runner.Role{Name: "reader", Entrypoint: "./read", NumReplicas: 1,
		Metadata: pyjson.NewObject(pyjson.Member{Key: "slurm.partition", Value: "cpu only"}, pyjson.Member{Key: "other.x", Value: "y"})}
	for _, c := range []struct {
		name string
		app  runner.App
		cfg  runner.Config
	}{
		{"one", runner.App{Name: "train", Roles: []runner.Role{reader}}, runner.Config{}},
		{"nodes", runner.App{Name: "train", Roles: []runner.Role{trainer}}, runner.Config{
			"partition": "gpu", "time": "1-00", "account": "my lab", "qos": "high", "constraint": "[a100|h100]", "mail-user": "ann@example.org", "mail-type": "END,FAIL",
			"comment": "a 'quoted' one", "ntasks_per_node": 2, "exclude": "n[1-3]", "setup": []string{"module load cuda", "conda activate x"}, "sbatch_args": []string{"--gres=nvme:1"},
		}},
		{"several", runner.App{Name: "train", Roles: []runner.Role{trainer, reader}}, runner.Config{"partition": "gpu", "program": "/opt/heirloom 1/heirloom"}},
		{"script", runner.App{Name: "train", Roles: []runner.Role{{Name: "script", Entrypoint: body, NumReplicas: 1}}}, runner.Config{"script": body, "partition": "gpu", "array": "0-3%2"}},
		{"nomem", runner.App{Name: "train", Roles: []runner.Role{trainer}}, runner.Config{"nomem": true, "job_dir": "/shared/jobs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := planned(c.app, c.cfg)
			if err := newScheduler(t).Prepare(t.Context(), plan); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".sh", plan.Request.(Request).String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

func TestRefusedPlans(t *testing.T) {
	role := runner.Role{Name: "r", Entrypoint: "sh", NumReplicas: 1}
	with := func(change func(*runner.Role)) runner.App {
		r := role.Clone()
		change(&r)
		return runner.App{Name: "a", Roles: []runner.Role{r}}
	}
	plain := runner.App{Name: "a", Roles: []runner.Role{role}}
	for name, c := range map[string]struct {
		app  runner.App
		cfg  runner.Config
		want string
		kind error
	}{
		"unknown option":     {plain, runner.Config{"partion": "x"}, "partition", store.ErrInvalid},
		"type":               {plain, runner.Config{"ntasks_per_node": "many"}, "ntasks_per_node", store.ErrInvalid},
		"none on a node":     {plain, runner.Config{"ntasks_per_node": 0}, "ntasks_per_node", store.ErrInvalid},
		"line break":         {plain, runner.Config{"partition": "a\n#SBATCH --uid=0"}, "line break", store.ErrInvalid},
		"script not there":   {plain, runner.Config{"script": "/no/such.sbatch"}, "/no/such.sbatch", os.ErrNotExist},
		"script is relative": {plain, runner.Config{"script": "a.sbatch"}, "absolute", store.ErrInvalid},
		"role's own option": {with(func(r *runner.Role) {
			r.Metadata = pyjson.NewObject(pyjson.Member{Key: "slurm.account", Value: "x"})
		}), nil, "slurm.account", store.ErrInvalid},
		"replica policy": {with(func(r *runner.Role) { r.MaxRetries, r.RetryPolicy = 1, runner.RetryReplica }), nil, "APPLICATION", store.ErrUnsupported},
		"mounts":         {with(func(r *runner.Role) { r.Mounts = []runner.Mount{{Type: runner.MountBind}} }), nil, "mounts", store.ErrUnsupported},
		"elastic":        {with(func(r *runner.Role) { r.NumReplicas, r.MinReplicas = 4, 2 }), nil, "fewer", store.ErrUnsupported},
		"devices":        {with(func(r *runner.Role) { r.Resource.Devices = map[string]int{"efa": 1} }), nil, "--gres", store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s, plan := newScheduler(t), planned(c.app, c.cfg)
			err := s.Validate(t.Context(), plan)
			if err == nil {
				err = s.Prepare(t.Context(), plan)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %v that names %s", err, c.kind, c.want)
			}
		})
	}
}

func appOf(name string, roles ...runner.Role) runner.App { return runner.App{Name: name, Roles: roles} }
