package openlineage_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The standard's own client has classes that are generated from its JSON schemas. This script puts events, one a line,
// into them: what a class does not have, lacks, or has as another type is an error, and so is a facet of another schema.
const validator = `
import importlib, inspect, json, pkgutil, sys, types, typing
import attr
import openlineage.client.generated as generated
from openlineage.client.generated import base

classes = {}
for module in pkgutil.iter_modules(generated.__path__):
    module = importlib.import_module(generated.__name__ + "." + module.name)
    for cls in vars(module).values():
        if inspect.isclass(cls) and attr.has(cls) and hasattr(cls, "_get_schema"):
            classes[cls._get_schema()] = cls

def fit(value, hint, where):
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return value
    if origin in (typing.Union, types.UnionType):
        errors = []
        for one in args:
            try:
                return fit(value, one, where)
            except (TypeError, ValueError) as error:
                errors.append(str(error))
        raise ValueError("; ".join(errors))
    if origin is typing.Literal:
        if value not in args:
            raise ValueError(f"{where}: {value!r} is none of {args}")
        return value
    if origin is list:
        if not isinstance(value, list):
            raise ValueError(f"{where}: no list")
        return [fit(v, args[0], where) for v in value]
    if origin is dict:
        if not isinstance(value, dict):
            raise ValueError(f"{where}: no object")
        return {k: fit(v, args[1], where + "." + k) for k, v in value.items()}
    if inspect.isclass(hint) and issubclass(hint, base.BaseFacet) and "_schemaURL" in (value or {}):
        url = value["_schemaURL"]
        if url.startswith("https://openlineage.io/"):
            if url not in classes:
                raise ValueError(f"{where}: there is no schema {url}")
            if not issubclass(classes[url], hint):
                raise ValueError(f"{where}: {url} is no {hint.__name__}")
            return make(classes[url], value, where)
        assert value["_producer"]
        return value
    if attr.has(hint):
        return make(hint, value, where)
    if isinstance(hint, type) and not isinstance(value, hint) or isinstance(value, bool) and hint is not bool:
        if isinstance(hint, type) and issubclass(hint, __import__("enum").Enum):
            return hint(value)
        raise ValueError(f"{where}: {value!r} is no {hint.__name__}")
    return value

def make(cls, value, where):
    if not isinstance(value, dict):
        raise ValueError(f"{where}: no object")
    given, hints = {}, typing.get_type_hints(cls)
    for field in attr.fields(cls):
        name = field.name
        if name in ("_producer", "_schemaURL", "schemaURL"):
            assert value.get(name), f"{where}: no {name}"
            continue
        if name in value:
            given[name.lstrip("_")] = fit(value[name], hints[name], where + "." + name)
    unknown = set(value) - {f.name for f in attr.fields(cls)}
    if unknown:
        raise ValueError(f"{where}: {cls.__name__} has no {unknown}")
    return cls(**given)

for number, line in enumerate(sys.stdin, 1):
    event = json.loads(line)
    assert event["schemaURL"] == base.RunEvent._get_schema(), event["schemaURL"]
    make(base.RunEvent, event, f"event {number}")
print(number)
`

func validate(t *testing.T, lines []string) (string, error) {
	t.Helper()
	python := servers.Python(t, "openlineage-python==1.54.0")
	cmd := exec.CommandContext(t.Context(), python, "-c", validator)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), &stderr
	out, err := cmd.Output()
	if err != nil {
		return stderr.String(), err
	}
	return strings.TrimSpace(string(out)), nil
}

// full is a run of which everything is told.
func full(state tracker.State) *tracker.Run {
	code := 3
	run := &tracker.Run{ID: "slurm://lab/train-x7", State: state, Started: at(1), Ended: at(2), Metadata: pyjson.NewObject(
		pyjson.Member{Key: tracker.KeyName, Value: "train"}, pyjson.Member{Key: tracker.KeyProject, Value: "digits"},
		pyjson.Member{Key: tracker.KeyVersion, Value: "heirloom v0.3.0"}, pyjson.Member{Key: tracker.KeyGitRemote, Value: "git@github.com:org/repo.git"},
		pyjson.Member{Key: tracker.KeyGitCommit, Value: "0123abc"}, pyjson.Member{Key: tracker.KeyGitBranch, Value: "main"},
		pyjson.Member{Key: tracker.KeyExitCode, Value: int64(3)}, pyjson.Member{Key: "params.lr", Value: 0.1}, pyjson.Member{Key: "params.list", Value: []any{int64(1), nil}},
		pyjson.Member{Key: "tags.team", Value: "vision"}, pyjson.Member{Key: "metrics.loss", Value: 0.5})}
	run.Attempts = []tracker.Attempt{{Number: 1, Start: tracker.AttemptStart{Time: at(1), Command: []string{"/usr/bin/python3.12", "train.py"}}, End: &tracker.AttemptEnd{Time: at(2), State: state, ExitCode: &code}}}
	run.Artifacts = []tracker.Artifact{
		{Name: "clicks@3", Path: "s3://b/clicks", Metadata: pyjson.NewObject(pyjson.Member{Key: tracker.KeyKind, Value: "dataset"}, pyjson.Member{Key: "rows", Value: int64(7)},
			pyjson.Member{Key: "fingerprint", Value: "f00d"})},
		{Name: "log", Path: ""},
		{Name: "model", Path: "s3://b/m/model.bin", Metadata: pyjson.NewObject(pyjson.Member{Key: tracker.KeyKind, Value: "model"},
			pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(9)}, pyjson.Member{Key: tracker.KeySHA256, Value: strings.Repeat("ab", 32)})},
	}
	run.Sources = []tracker.Source{
		{ID: "digits@1", Role: tracker.RoleInput, Name: "digits", Version: "1", URI: "s3://b/digits", Time: at(1)},
		{ID: "local://x/prepare-1", Artifact: "train.parquet"}, {ID: "local://x/other-1"}, {ID: "local://x/sweep-1", Role: tracker.RoleParent},
		{ID: "s3://b/raw", Role: tracker.RoleInput, URI: "s3://b/raw"},
	}
	return run
}

// Every event that is written is one by the schemas of the standard; what breaks them is found.
func TestEventsAreTheStandards(t *testing.T) {
	var lines []string
	table := func(fingerprint string) *openlineage.Table {
		if fingerprint != "f00d" {
			return nil
		}
		list := []openlineage.Field{{Name: "a", Type: "int64"}, {Name: "b", Type: "struct", Fields: []openlineage.Field{{Name: "c", Type: "string"}}}}
		return &openlineage.Table{Fields: list, Rows: 7, Bytes: 70, Files: 2}
	}
	for _, state := range []tracker.State{tracker.Succeeded, tracker.Failed, tracker.Cancelled, tracker.Running, tracker.Lost, tracker.Unknown} {
		for _, e := range openlineage.Events(full(state), openlineage.Options{Namespace: "lab", Table: table}) {
			body, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(body))
		}
	}
	for seed := range uint64(10) {
		lines = append(lines, told(t, randomRoot(t, seed))...)
	}
	if said, err := validate(t, lines); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{`"rowCount":7,"size":70,"fileCount":2`, `{"name":"a","type":"int64","ordinal_position":1}`} {
		if !strings.Contains(lines[1], want) {
			t.Errorf("%s is not told: %s", want, lines[1])
		}
	}
	for from, to := range map[string]string{
		`"runId":"`: `"runId":"x`, `"eventType":"START"`: `"eventType":"BEGIN"`, `"message":`: `"mesage":`, `/1-2-0/ParentRunFacet`: `/9-0-0/ParentRunFacet`,
		`"type":"DATASET"`: `"type":"TABLE"`, `"size":9`: `"size":"9"`,
	} {
		broken := strings.ReplaceAll(strings.Join(lines[:4], "\n"), from, to)
		if said, err := validate(t, strings.Split(broken, "\n")); err == nil || broken == strings.Join(lines[:4], "\n") {
			t.Errorf("%s in the place of %s passes: %s", to, from, said)
		}
	}
}

func TestEvents(t *testing.T) {
	kinds := map[tracker.State][]string{
		tracker.Succeeded: {"START", "COMPLETE"}, tracker.Failed: {"START", "FAIL"}, tracker.Cancelled: {"START", "ABORT"},
		tracker.Running: {"START", "RUNNING"}, tracker.Lost: {"START", "RUNNING"},
	}
	for state, want := range kinds {
		run := full(state)
		if !state.Terminal() {
			run.Ended = run.Ended.Add(-run.Ended.Sub(run.Started))
		}
		var got []string
		for _, e := range openlineage.Events(run, openlineage.Options{}) {
			got = append(got, e.Type)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
	e := openlineage.Events(full(tracker.Failed), openlineage.Options{})[1]
	body, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"job":{"namespace":"default","name":"digits.train"`, `"message":"ended with exit code 3","programmingLanguage":"python"`,
		`"url":"https://github.com/org/repo/tree/0123abc"`, `"parameters":[{"key":"lr","value":"0.1"},{"key":"list","value":"[1`,
		`{"namespace":"heirloom","name":"clicks"`, `"datasetVersion":"3"`, `"rowCount":7`, `{"namespace":"s3://b","name":"m/model.bin"`, `"size":9`,
		`"parent":{"_producer":"https://github.com/heirloom-ml/heirloom","_schemaURL":"https://openlineage.io/spec/facets/1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet","run":{"runId":"` + openlineage.UUID("local://x/sweep-1") + `"},"job":{"namespace":"default","name":"sweep"}}`,
		`{"namespace":"default","name":"other","type":"JOB","runId":"` + openlineage.UUID("local://x/other-1") + `"}`,
	} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s is not told: %s", want, body)
		}
	}
}
