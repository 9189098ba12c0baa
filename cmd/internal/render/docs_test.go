package render_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/tracker"
)

// documented reads docs/json.md: the fields named in the first column of each section's table.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	field := regexp.MustCompile("^\\| `([^`]+)` \\|")
	sections := map[string][]string{}
	section := ""
	for line := range strings.SplitSeq(string(page), "\n") {
		if head, ok := strings.CutPrefix(line, "## "); ok {
			section = head
		}
		if m := field.FindStringSubmatch(line); m != nil {
			sections[section] = append(sections[section], m[1])
		}
	}
	return sections
}

// opaque are objects whose keys the user chose: what is below them is data.
var opaque = regexp.MustCompile(`^(?:metadata|artifacts\[\]\.metadata|attempts\[\]\.(?:environ|scheduler)|(?:runs|checkpoints)\[\]\.(?:params|metrics|tags))$`)

// fields lists the path of each field in a document, each once.
func fields(v any, path string, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if opaque.MatchString(path) {
			found[path] = true
			return
		}
		for key, member := range v {
			fields(member, strings.TrimPrefix(path+"."+key, "."), found)
		}
	case []any:
		for _, element := range v {
			fields(element, path+"[]", found)
		}
	default:
		found[path] = true
	}
}

func TestJSONFieldsAreDocumented(t *testing.T) {
	tests := map[string]func(*bytes.Buffer) error{
		"runs": func(b *bytes.Buffer) error {
			list := render.Runs(runList())
			list.AddAliases([]tracker.RunID{eval, eval, eval, eval}, render.NewRunAliases([]alias.Alias{{Name: "best", Node: eval}}))
			list.AddCompleteness(&render.Completeness{})
			return list.Write(b, render.JSON, render.Style{})
		},
		"show": func(b *bytes.Buffer) error {
			return render.Show(b, samples()[eval], []string{"best"}, render.JSON, render.Style{})
		},
		"lineage": func(b *bytes.Buffer) error {
			sub := closure(t, pipeline(), tune+"#model.gob", lineage.Query{})
			sub.Nodes[0].Aliases = []string{"best"}
			sub.Warnings = []tracker.Warning{{Key: "k", Reason: "r"}}
			return render.Lineage(b, sub, render.JSON, render.Style{Completeness: &render.Completeness{}})
		},
	}
	tests["show --metrics"] = func(b *bytes.Buffer) error {
		return render.Metrics(b, tracker.Series{"loss": {{Step: 1, Time: time.Unix(1, 0), Value: 0.5}}}, render.JSON, render.Style{})
	}
	object := render.Entry{Path: "a", URL: "file:///a", Entry: store.Entry{Object: store.Object{Key: "a", Size: 1, Version: "v", Modified: time.Unix(1, 0)}}}
	used := render.Usage{Path: "a", URL: "file:///a", Objects: 1, Bytes: 1}
	saved := render.Checkpoint{Path: "a", Checkpoint: &checkpoint.Checkpoint{Metrics: map[string]float64{"loss": 1}}}
	removals := render.Removals([]render.Removal{{}})
	removals.AddDryRun(true)
	for name, list := range map[string]render.List{
		"store ls":         render.Entries([]render.Entry{object}, false),
		"artifact ls":      render.Artifacts([]render.Artifact{{Run: eval}}),
		"artifact verify":  render.Checks([]render.Check{{Run: eval}}),
		"store du":         render.Usages([]render.Usage{used}, used, 0, false),
		"fsck":             render.Fsck(&tracker.FsckReport{Findings: []tracker.Finding{{Rule: tracker.RuleFormat}}}),
		"alias":            render.Aliases([]alias.Alias{{}}),
		"rm":               removals,
		"checkpoint ls":    render.Checkpoints([]render.Checkpoint{saved}),
		"checkpoint prune": render.Prune([]render.Pruned{{Checkpoint: saved, Why: []string{"pinned"}}}, true),
	} {
		tests[name] = func(b *bytes.Buffer) error { return list.Write(b, render.JSON, render.Style{}) }
	}
	page := documented(t)
	for name, print := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := print(&out); err != nil {
				t.Fatal(err)
			}
			var doc any
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			printed := map[string]bool{}
			fields(doc, "", printed)
			for _, path := range page[name] {
				path = strings.TrimSuffix(path, ".*")
				if !printed[path] {
					t.Errorf("docs/json.md tells of %s, which is not printed", path)
				}
				delete(printed, path)
			}
			for path := range printed {
				t.Errorf("%s is printed, but not in docs/json.md", path)
			}
		})
	}
}
