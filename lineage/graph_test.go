package lineage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// edge reads "from>to", "from>to:artifact"; a role may follow in parentheses.
func edge(text string) tracker.Edge {
	text, role, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	ends, artifact, _ := strings.Cut(text, ":")
	from, to, _ := strings.Cut(ends, ">")
	return tracker.Edge{
		From:   tracker.RunID(from),
		To:     tracker.RunID(to),
		Source: tracker.Source{ID: tracker.RunID(from), Artifact: artifact, Role: tracker.Role(role)},
	}
}

// graph builds a graph of edges written as edge reads them; what has no ">" is a run without edges.
func graph(lines ...string) *lineage.Graph {
	var runs []tracker.RunID
	var edges []tracker.Edge
	for _, line := range lines {
		if strings.Contains(line, ">") {
			edges = append(edges, edge(line))
		} else {
			runs = append(runs, tracker.RunID(line))
		}
	}
	return lineage.New(runs, edges)
}

// write is the opposite of edge, without the role.
func write(edges []lineage.Edge) []string {
	list := []string{}
	for _, e := range edges {
		text := e.From + ">" + e.To
		if e.Artifact != "" {
			text += ":" + e.Artifact
		}
		list = append(list, text)
	}
	return list
}

func ids(nodes []lineage.Node) []string {
	list := []string{}
	for _, n := range nodes {
		list = append(list, n.ID)
	}
	return list
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

// pipeline is prepare → two trainings → fine-tuning → evaluation, with an input and another user of the model.
func pipeline() *lineage.Graph {
	return graph("prepare", "train1", "train2", "tune", "eval", "other", "alone",
		"digits@1>prepare(input)",
		"prepare>train1:train", "prepare>train1:val", "prepare>train2:train",
		"train1>tune:checkpoint", "prepare>tune:train",
		"tune>eval:model", "prepare>eval:test", "tune>other:log")
}

func TestParentsAndChildren(t *testing.T) {
	g := pipeline()
	equal(t, "parents", write(g.Parents("eval")), []string{"prepare>eval:test", "tune>eval:model"})
	equal(t, "children", write(g.Children("prepare")),
		[]string{"prepare>eval:test", "prepare>train1:train", "prepare>train1:val", "prepare>train2:train", "prepare>tune:train"})
	equal(t, "parents of an artifact", write(g.Parents("tune#model")), []string{"tune>tune#model:model"})
	equal(t, "children of an artifact", write(g.Children("tune#model")), []string{"tune#model>eval:model"})
	equal(t, "children of a leaf", write(g.Children("eval")), []string{})
	equal(t, "parents of the unknown", write(g.Parents("nobody")), []string{})
}

func TestAncestorsAndDescendants(t *testing.T) {
	g := pipeline()
	tests := []struct {
		name string
		got  []lineage.Hop
		want string
	}{
		{"all ancestors", g.Ancestors("eval", 0), "[{prepare 1} {tune 1} {digits@1 2} {train1 2}]"},
		{"near ancestors", g.Ancestors("eval", 1), "[{prepare 1} {tune 1}]"},
		{"all descendants", g.Descendants("digits@1", -1), "[{prepare 1} {eval 2} {train1 2} {train2 2} {tune 2} {other 3}]"},
		{"two edges down", g.Descendants("train1", 2), "[{tune 1} {eval 2} {other 2}]"},
		{"of an artifact", g.Descendants("tune#log", 0), "[{other 1}]"},
		{"above an artifact", g.Ancestors("train1#x", 2), "[{train1 1} {prepare 2}]"},
		{"alone", g.Ancestors("alone", 0), "[]"},
		{"unknown", g.Descendants("nobody", 0), "[]"},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(tt.got); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestClosure(t *testing.T) {
	tests := []struct {
		name         string
		root         string
		query        lineage.Query
		nodes, edges string
	}{
		{"up", "tune", lineage.Query{Up: true}, "digits@1 prepare train1 tune",
			"digits@1>prepare prepare>train1:train prepare>train1:val prepare>tune:train train1>tune:checkpoint"},
		{"down", "tune", lineage.Query{Down: true}, "eval other tune", "tune>eval:model tune>other:log"},
		{"both by default, with the edge past the root", "train1", lineage.Query{Depth: 2}, "digits@1 eval other prepare train1 tune",
			"digits@1>prepare prepare>eval:test prepare>train1:train prepare>train1:val prepare>tune:train train1>tune:checkpoint tune>eval:model tune>other:log"},
		{"depth", "eval", lineage.Query{Up: true, Depth: 1}, "eval prepare tune", "prepare>eval:test prepare>tune:train tune>eval:model"},
		{"one artifact name", "prepare", lineage.Query{Down: true, Artifact: "train"}, "prepare train1 train2 tune",
			"prepare>train1:train prepare>train2:train prepare>tune:train"},
		{"an artifact, down", "tune#model", lineage.Query{Down: true}, "eval tune#model", "tune#model>eval:model"},
		{"an artifact, up", "tune#model", lineage.Query{Up: true, Depth: 2}, "prepare train1 tune tune#model",
			"prepare>train1:train prepare>train1:val prepare>tune:train train1>tune:checkpoint tune>tune#model:model"},
		{"an artifact nobody used", "eval#report", lineage.Query{Depth: 1}, "eval eval#report", "eval>eval#report:report"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sub, err := pipeline().Closure(tt.root, tt.query)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "nodes", ids(sub.Nodes), strings.Fields(tt.nodes))
			equal(t, "edges", write(sub.Edges), strings.Fields(tt.edges))
			if sub.Root != tt.root {
				t.Errorf("root %q, want %q", sub.Root, tt.root)
			}
		})
	}
}

func TestClosureOfUnknown(t *testing.T) {
	for _, id := range []string{"nobody", "nobody#x", "", "prepare#", "#x"} {
		if _, err := pipeline().Closure(id, lineage.Query{}); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("closure of %q: %v, want kind ErrNotExist", id, err)
		}
	}
}

func TestArtifactWarnsOfUnnamedUses(t *testing.T) {
	g := graph("a>b:model", "a>c", "a>d(parent)")
	sub, err := g.Closure("a#model", lineage.Query{Down: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(sub.Warnings) != 1 || !strings.Contains(sub.Warnings[0].Reason, "1 uses of a name no artifact") {
		t.Errorf("warnings %v, want one about the use by c", sub.Warnings)
	}
	if sub, _ = g.Closure("a#model", lineage.Query{Up: true}); len(sub.Warnings) != 0 {
		t.Errorf("upwards: warnings %v, want none", sub.Warnings)
	}
}

func TestRunWhoseIDHoldsAHash(t *testing.T) {
	g := graph("ext exp#1>a", "a>b:x#y", "c#1")
	equal(t, "children", write(g.Children("ext exp#1")), []string{"ext exp#1>a"})
	equal(t, "uses", write(g.Children("a#x#y")), []string{"a#x#y>b:x#y"})
	equal(t, "uses", write(g.Parents("c#1#m")), []string{"c#1>c#1#m:m"})
}

func TestKinds(t *testing.T) {
	tests := []struct {
		name    string
		source  tracker.Source
		kind    lineage.Kind
		missing bool
		label   string
	}{
		{"recorded run", tracker.Source{ID: "local://torchx/known"}, lineage.KindRun, false, "known"},
		{"recorded run as input", tracker.Source{ID: "local://torchx/known", Role: "input"}, lineage.KindRun, false, "known"},
		{"missing parent", tracker.Source{ID: "x", Role: "parent"}, lineage.KindRun, true, "x"},
		{"missing handle of TorchX", tracker.Source{ID: "slurm://me/train-x7"}, lineage.KindRun, true, "train-x7"},
		{"handle without session", tracker.Source{ID: "slurm:///train-x7"}, lineage.KindRun, true, "train-x7"},
		{"handle as input", tracker.Source{ID: "api://v1/set", Role: "input"}, lineage.KindExternal, false, "api://v1/set"},
		{"URI", tracker.Source{ID: "s3://b/k", Role: "input", URI: "s3://b/k"}, lineage.KindExternal, false, "s3://b/k"},
		{"URI without role", tracker.Source{ID: "s3://b/k"}, lineage.KindExternal, false, "s3://b/k"},
		{"URI with user", tracker.Source{ID: "hdfs://me@nn:8020/k"}, lineage.KindExternal, false, "hdfs://me@nn:8020/k"},
		{"named version", tracker.Source{ID: "clicks@3"}, lineage.KindDataset, false, "clicks@3"},
		{"digest of a name", tracker.Source{ID: "sha256:00", Role: "input", Name: "clicks", Version: "4"}, lineage.KindDataset, false, "clicks@4"},
		{"digest of a URI", tracker.Source{ID: "sha256:01", Role: "input", URI: "s3://b/long"}, lineage.KindExternal, false, "s3://b/long"},
		{"anything", tracker.Source{ID: "ext exp#1"}, lineage.KindExternal, false, "ext exp#1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := lineage.New([]tracker.RunID{"local://torchx/known"}, []tracker.Edge{{From: tt.source.ID, To: "user", Source: tt.source}})
			n, err := g.Node(string(tt.source.ID))
			if err != nil {
				t.Fatal(err)
			}
			if n.Kind != tt.kind || n.Missing != tt.missing || n.Label() != tt.label {
				t.Errorf("kind %s, missing %t, label %q; want %s, %t, %q", n.Kind, n.Missing, n.Label(), tt.kind, tt.missing, tt.label)
			}
		})
	}
}

func TestDoubleEdgesBecomeOne(t *testing.T) {
	for _, order := range [][]string{{"a>b:x(parent)", "a>b:x", "a>b"}, {"a>b", "a>b:x", "a>b:x(parent)"}} {
		edges := graph(order...).Children("a")
		equal(t, "edges", write(edges), []string{"a>b", "a>b:x"})
		if edges[1].Role != "parent" {
			t.Errorf("role %q of the double is lost", edges[1].Role)
		}
	}
}
