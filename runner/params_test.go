package runner

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func jsonOf(o *pyjson.Object) string {
	if o.Len() == 0 {
		return "{}"
	}
	text, err := pyjson.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestParamsFromArgs(t *testing.T) {
	tests := []struct {
		name, args, want string
	}{
		{"nothing", "train", `{}`},
		{"with equals sign", "train --lr=0.1 --name=a=b", `{"lr": 0.1, "name": "a=b"}`},
		{"with space", "train --lr 0.1", `{"lr": 0.1}`},
		{"short", "train -x 3 -v", `{"x": 3, "v": true}`},
		{"one dash, long", "train -lr 0.1 -epochs=3", `{"lr": 0.1, "epochs": 3}`},
		{"flag at the end", "train --cuda", `{"cuda": true}`},
		{"flag before a flag", "train --cuda --lr 1e-3", `{"cuda": true, "lr": 0.001}`},
		{"negative number", "train --shift -3 --low -.5", `{"shift": -3, "low": "-.5"}`},
		{"hydra", "train lr=0.1 +model.depth=3 ++opt=adam db/mysql=x", `{"lr": 0.1, "model.depth": 3, "opt": "adam", "db/mysql": "x"}`},
		{"flag before hydra", "train --multirun lr=1", `{"multirun": true, "lr": 1}`},
		{"typed", `train --a true --b null --c [1,2] --d {"x":1} --e True --f 007 --g 12345678901234567890`,
			`{"a": true, "b": null, "c": [1, 2], "d": {"x": 1}, "e": "True", "f": "007", "g": 12345678901234567890}`},
		{"not JSON", "train --a NaN --b Infinity", `{"a": "NaN", "b": "Infinity"}`},
		{"empty value", "train --a=", `{"a": ""}`},
		{"repeated", "train --data a --data b --data 3", `{"data": ["a", "b", 3]}`},
		{"end of flags", "train --a 1 -- --b 2", `{"a": 1}`},
		{"words", "train data.csv out", `{}`},
		{"standard input", "train --in -", `{"in": "-"}`},
		{"python script", "python -u -W ignore train.py --lr 1", `{"lr": 1}`},
		{"python module", "python3.12 -m pkg.train --lr 1", `{"lr": 1}`},
		{"python code", "python -c print(a=1) --lr 1", `{"lr": 1}`},
		{"shell code", "sh -c a=1;echo", `{}`},
		{"shell script", "/bin/bash run.sh --lr 1", `{"lr": 1}`},
		{"env", "env LR=1 train --b 2", `{"LR": 1, "b": 2}`},
		{"no name", "train --=3 ---a -- 1", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := jsonOf(paramsFromArgs(strings.Fields(tt.args))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParams(t *testing.T) {
	params := pyjson.NewObject(
		pyjson.Member{Key: "lr", Value: 0.5},
		pyjson.Member{Key: "optim", Value: pyjson.NewObject(pyjson.Member{Key: "beta", Value: int64(1)}, pyjson.Member{Key: "api_key", Value: "s3cret"})},
		pyjson.Member{Key: "empty", Value: &pyjson.Object{}},
		pyjson.Member{Key: "password", Value: int64(1234)},
	)
	r := &run{job: Job{Params: params, ParamsFromArgs: true}}
	want := `{"lr": 0.1, "optim.beta": 1, "optim.api_key": "[redacted]", "empty": {}, "password": "[redacted]"}`
	if got := jsonOf(r.params([]string{"train", "--lr=0.1"})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, nested := params.Get("optim"); !nested {
		t.Error("the caller's params were changed")
	}
	r.job.ParamsFromArgs = false
	if got := jsonOf(r.params([]string{"train", "--lr=0.1"})); !strings.HasPrefix(got, `{"lr": 0.5`) {
		t.Errorf("got %s", got)
	}
}

func TestCommandName(t *testing.T) {
	for args, want := range map[string]string{
		"/usr/bin/train": "train", "python train.py --x": "train", "python -u dir/train.py": "train",
		"python -m pkg.train": "pkg.train", "sh -c echo": "sh", "python": "python", "./run.sh 3": "run", "bash a.sh": "a",
	} {
		if got := commandName(strings.Fields(args)); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
