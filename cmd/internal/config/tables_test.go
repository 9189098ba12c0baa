package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
)

func loadTables(t *testing.T, files map[string]string) (*config.Tables, string, error) {
	t.Helper()
	root := tree(t, files)
	tables, err := config.LoadTables(config.Input{Environ: []string{"HOME=" + filepath.Join(root, "home")}, Dir: filepath.Join(root, "work")})
	return tables, root, err
}

// What TorchX's files say goes before the project's file, that before the user's, key by key.
func TestTablesJoin(t *testing.T) {
	tables, root, err := loadTables(t, map[string]string{
		"work/.torchxconfig": "[slurm]\npartition = gpu\ntime = None\n[component:dist.ddp]\nj = 2x2\n[cli:run]\ncomponent = x\nworkspace = None\n[cli:list]\ncomponent = y\n[named_resources]\nbig = {\"cpu\": 8}\n",
		"work/heirloom.toml": `
default_scheduler = "slurm"
[scheduler.slurm]
partition = "cpu"
time = "1:00"
[component."dist.ddp"]
tee = 1
j = "1x1"
[components]
train = "jobs/train.toml"
[named_resources.small]
cpu = 1
`,
		"home/.config/heirloom/config.toml": "[scheduler.slurm]\nqos = \"low\"\ntime = \"2:00\"\n[components]\ntrain = \"t.toml\"\nmine = \"/m.toml\"\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range tables.Scheduler("slurm") {
		rel, _ := filepath.Rel(root, e.File)
		got = append(got, fmt.Sprintf("%s=%v %s %t", e.Key, e.Value, rel, e.Ours))
	}
	want := "partition=gpu work/.torchxconfig false; qos=low home/.config/heirloom/config.toml true; time=1:00 work/heirloom.toml true"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if got, want := fmt.Sprint(tables.Component()), "map[dist.ddp:map[j:2x2 tee:1]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(tables.Command("run")), fmt.Sprintf("[{component x %s false}]", filepath.Join(root, "work/.torchxconfig")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(tables.Components()), fmt.Sprintf("map[mine:/m.toml train:%s]", filepath.Join(root, "work/jobs/train.toml")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(tables.Resources()), "map[big:map[cpu:8] small:map[cpu:1]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTablesNameThePlace(t *testing.T) {
	for body, want := range map[string]string{
		"[schedulr.slurm]\na = 1\n":            "scheduler.NAME",
		"[named_resources]\nbig = 1\n":         "heirloom.toml:",
		"[component.'dist.ddp']\n[component\n": "heirloom.toml:",
	} {
		if _, _, err := loadTables(t, map[string]string{"work/heirloom.toml": body}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", body, err, want)
		}
	}
	_, _, err := loadTables(t, map[string]string{"work/.torchxconfig": "[named_resources]\nbig = 8\n"})
	if err == nil || !strings.Contains(err.Error(), "big is no JSON object") {
		t.Errorf("got %v", err)
	}
}
