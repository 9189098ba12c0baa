package component_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner/component"
	"github.com/heirloom-ml/heirloom/store"
)

// What a component cannot be told is refused with a sentence that helps.
func TestArgsAreChecked(t *testing.T) {
	for line, want := range map[string]string{
		"utils.echo --mesage hi":                           "no option --mesage, known: --msg, --image, --num_replicas",
		"utils.echo --msg":                                 "--msg needs a value",
		"utils.echo --msg a --msg b":                       "--msg is given twice",
		"utils.echo hi":                                    `unexpected argument "hi"`,
		"utils.echo --num_replicas two":                    `"two" is no whole number`,
		"utils.touch":                                      "missing --file",
		"utils.python x.py":                                "exactly one of -m, -c and --script is needed, 0 are given",
		"utils.python -m a -c b":                           "2 are given",
		"utils.python --script a.py --lr 1":                `no option --lr, known: -m, -c, --script`,
		"utils.binary":                                     "missing --entrypoint",
		"utils.sh -h gpu.smal true":                        "gpu.small",
		"utils.sh --env A true":                            `"A" is not written K=V,K=V`,
		"utils.sh --mounts src=/a true":                    "mount",
		"dist.ddp":                                         "exactly one of --script and -m",
		"dist.ddp --script a -m b":                         "exactly one of --script and -m",
		"dist.ddp --script a -j 2y2":                       `-j "2y2" is not written`,
		"dist.ddp --script a -j 0x2":                       "0 of them cannot run",
		"dist.ddp --script a -j 2x0":                       "0 of them cannot run",
		"dist.ddp --script a -j 3:2x1":                     "at least 3 nodes and at most 2 cannot be",
		"dist.ddp --script a -j 1x99999999999999999999999": "too many",
		"dist.ddp --script a --rdzv_port 70000":            "70000 is no port",
		"dist.ddp --script a --debug maybe":                "", // a word of its own
		"dist.spmd --script a -j 1:2x2":                    "a fixed number of nodes",
		"dist.spmd --script a -j 2 -h cpu.small":           "cpu.small has no GPUs",
	} {
		words := strings.Fields(line)
		c, err := (&component.Set{}).Find(words[0])
		if err != nil {
			t.Fatal(err)
		}
		values, err := c.ParseArgs(words[1:])
		if err == nil {
			_, err = c.App(values)
		}
		if want == "" && err == nil {
			continue
		}
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}

func TestWaysToWrite(t *testing.T) {
	for line, want := range map[string]string{
		"dist.ddp -j2x2 --script a":                  "--nnodes 2 --nproc_per_node 2",
		"dist.ddp -j=2x2 --script a":                 "--nnodes 2 --nproc_per_node 2",
		"dist.ddp --j 2x2 --script a":                "--nnodes 2 --nproc_per_node 2",
		"dist.ddp --rdzv-port 7 -j 2x1 --script a b": ":7 ",
		"dist.ddp --script a -- --script b":          "a --script b",
		"dist.ddp --script a - --x":                  "a - --x",
	} {
		app := make1(t, component.Set{}, strings.Fields(line)...)
		if got := app.Roles[0].Args[1]; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	for line, want := range map[string]string{"--debug": "1", "--debug=false": "", "--debug false": "", "--debug True": "1"} {
		app := make1(t, component.Set{}, append([]string{"dist.ddp", "--script", "a"}, strings.Fields(line)...)...)
		if got := app.Roles[0].Env["CUDA_LAUNCH_BLOCKING"]; got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	c, err := (&component.Set{}).Find("utils.echo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ParseArgs([]string{"--msg", "a", "--help"}); !errors.Is(err, component.ErrHelp) {
		t.Errorf("got %v", err)
	}
}

// Whatever the arguments, they make an App or are refused.
func FuzzArgs(f *testing.F) {
	for _, c := range cases {
		f.Add(strings.Join(c, "\x00"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\x00")
		for _, c := range component.Builtin(nil) {
			values, err := c.ParseArgs(words)
			if err == nil {
				_, err = c.App(values)
			}
			if err != nil && !errors.Is(err, store.ErrInvalid) && !errors.Is(err, component.ErrHelp) {
				t.Fatalf("%v is not of kind ErrInvalid", err)
			}
		}
	})
}
