package prov_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/prov"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	prepare = "local://torchx/prepare-b1"
	train   = "local://torchx/train-c4"
	eval    = "local://torchx/evaluate-g6"
	odd     = "x://y/\"<ü>&#:@{} -\u202e"
)

// sample is a lineage with all that a document may tell of.
func sample(t *testing.T, root string) *lineage.Subgraph {
	t.Helper()
	edge := func(from, to, artifact string, role tracker.Role) tracker.Edge {
		return tracker.Edge{From: tracker.RunID(from), To: tracker.RunID(to), Source: tracker.Source{ID: tracker.RunID(from), Artifact: artifact, Role: role}}
	}
	raw := edge("s3://bucket/raw", prepare, "", tracker.RoleInput)
	raw.Source.URI, raw.Source.Time = "s3://bucket/raw", time.Date(2026, 11, 20, 1, 2, 3, 4, time.UTC)
	digits := edge("digits@1", prepare, "", tracker.RoleInput)
	digits.Source.Name, digits.Source.Version, digits.Source.Digest = "digits", "1", "00ff"
	g := lineage.New([]tracker.RunID{prepare, train, eval, odd}, []tracker.Edge{
		raw, digits, edge(prepare, train, "train.parquet", ""), edge(train, eval, "model", ""), edge(prepare, eval, "", ""),
		edge("slurm://torchx/sweep", train, "", tracker.RoleParent), edge(eval, odd, odd, ""), edge(train, odd, "", tracker.RoleRerun),
	})
	sub, err := g.Closure(root, lineage.Query{})
	if err != nil {
		t.Fatal(err)
	}
	meta := pyjson.NewObject(
		pyjson.Member{Key: tracker.KeyUser, Value: "ann"}, pyjson.Member{Key: "params.lr", Value: 0.1}, pyjson.Member{Key: "params.list", Value: []any{int64(1)}},
		pyjson.Member{Key: "metrics." + odd, Value: int64(3)}, pyjson.Member{Key: "params.none", Value: nil}, pyjson.Member{Key: "tags.ok", Value: true},
		pyjson.Member{Key: "private", Value: "not told"})
	for i := range sub.Nodes {
		n := &sub.Nodes[i]
		id := n.ID
		if n.Kind == lineage.KindArtifact {
			id = n.Owner
		}
		if n.Missing || n.Kind == lineage.KindExternal || n.Kind == lineage.KindDataset {
			continue
		}
		n.Run = &tracker.Run{ID: tracker.RunID(id), State: tracker.Succeeded, Metadata: meta, Started: time.Unix(1, 5), Ended: time.Unix(2, 0), Artifacts: []tracker.Artifact{
			{Name: "model", Path: "s3://bucket/model", Metadata: pyjson.NewObject(
				pyjson.Member{Key: tracker.KeyKind, Value: "model"}, pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(5)}, pyjson.Member{Key: tracker.KeySHA256, Value: strings.Repeat("ab", 32)})},
			{Name: "log", Path: "s3://bucket/log"},
		}}
	}
	return sub
}

func document(t *testing.T, root string) []byte {
	t.Helper()
	body, err := json.Marshal(prov.New(sample(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestDocument(t *testing.T) {
	body := document(t, train)
	if bytes.Contains(body, []byte("not told")) || bytes.Contains(body, []byte("bucket/log")) {
		t.Errorf("more is told than parameters, metrics, tags and the chief artifacts:\n%s", body)
	}
	var doc map[string]map[string]map[string]any
	var plain map[string]any
	if err := json.Unmarshal(body, &plain); err != nil {
		t.Fatal(err)
	}
	delete(plain, "prefix")
	rest, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(rest, &doc); err != nil {
		t.Fatal(err)
	}
	relation := func(kind, a, b string) {
		t.Helper()
		for _, r := range doc[kind] {
			var ends []string
			for key, v := range r {
				if text, ok := v.(string); ok && strings.HasPrefix(key, "prov:") {
					ends = append(ends, text)
				}
			}
			if strings.Contains(strings.Join(ends, " "), a) && strings.Contains(strings.Join(ends, " "), b) {
				return
			}
		}
		t.Errorf("no %s of %s and %s: %v", kind, a, b, doc[kind])
	}
	run := "heirloom:run/local%3A%2F%2Ftorchx%2F"
	relation("used", run+"prepare-b1", "heirloom:input/s3%3A%2F%2Fbucket%2Fraw")
	relation("wasGeneratedBy", run+"train-c4", "heirloom:artifact/local%3A%2F%2Ftorchx%2Ftrain-c4/model")
	relation("used", run+"evaluate-g6", "heirloom:artifact/local%3A%2F%2Ftorchx%2Ftrain-c4/model")
	relation("wasDerivedFrom", "train-c4/model", "prepare-b1/train.parquet")
	relation("wasStartedBy", run+"train-c4", "heirloom:run/slurm%3A%2F%2Ftorchx%2Fsweep")
	relation("wasAssociatedWith", run+"train-c4", "heirloom:user/ann")
	if doc["activity"][run+"train-c4"]["prov:startTime"] != "1970-01-01T00:00:01.000000005Z" {
		t.Errorf("activity is %v", doc["activity"][run+"train-c4"])
	}
	if !bytes.Equal(body, document(t, train)) {
		t.Error("two documents of one lineage differ")
	}
}

// provScript reads documents, one a line, with the reference library, and writes each again and as PROV-N and RDF.
const provScript = `
import json, sys
from prov.model import ProvDocument, ProvActivity, ProvEntity
for line in sys.stdin:
    doc = ProvDocument.deserialize(content=line, format="json")
    again = ProvDocument.deserialize(content=doc.serialize(format="json"), format="json")
    assert doc == again, "another document"
    assert doc.get_provn()
    kinds = {}
    for record in doc.get_records():
        name = record.get_type().localpart
        kinds[name] = kinds.get(name, 0) + 1
    print(json.dumps(kinds, sort_keys=True))
    for record in doc.get_records(ProvActivity):
        assert record.get_startTime() is None or record.get_startTime().tzinfo is not None
`

// The reference library of PROV reads the documents, and finds in them each thing that they hold.
func TestReferenceLibraryReadsDocuments(t *testing.T) {
	python := servers.Python(t, "prov==3.2.3")
	var lines, stderr bytes.Buffer
	for _, root := range []string{train, eval + "#report", odd, train + "#model"} {
		lines.Write(document(t, root))
		lines.WriteByte('\n')
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", provScript)
	cmd.Stdin, cmd.Stderr = &lines, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	first, _, _ := strings.Cut(string(out), "\n")
	var counts map[string]int
	if err := json.Unmarshal([]byte(first), &counts); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"Activity": 5, "Agent": 1, "Start": 1, "Association": 4}
	for kind, n := range want {
		if counts[kind] != n {
			t.Errorf("the library finds %d %s, want %d: %s", counts[kind], kind, n, first)
		}
	}
	if strings.Count(string(out), "\n") != 4 {
		t.Errorf("the library read %q, want four documents", out)
	}
}
