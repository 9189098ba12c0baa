package tracker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// deed is one write of a tracker, done by a process that may be killed within it.
type deed struct {
	name string
	seed func(p *patient)                                                            // what it finds beside the records of a patient; may be nil
	do   func(ctx context.Context, tr *tracker.FileTracker, data *store.Store) error // data holds the tracker's root
	kept func(p *patient) bool                                                       // whether all that it records is there
}

// mended are the rules that a write may leave broken when it is cut off.
var mended = map[tracker.Rule]bool{
	tracker.RuleLinkUnmirrored: true, tracker.RuleDescendantMissing: true, tracker.RuleRunEmpty: true,
}

// deeds are all kinds of writes.
func deeds() []deed {
	return slices.Concat(recordDeeds(), linkDeeds(), attemptDeeds(), []deed{
		{name: "init", seed: func(p *patient) { p.remove("heirloom.json") },
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.Init(ctx, tracker.InitOptions{})
			},
			kept: func(p *patient) bool {
				_, err := p.root.Get(p.Context(), "heirloom.json")
				return err == nil
			}},
		{name: "repair", seed: seedFaults, do: repair, kept: func(p *patient) bool { return len(p.fsck(noGrace).Findings) == 0 }},
	})
}

func recordDeeds() []deed {
	return []deed{
		{name: "metadata",
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.AddMetadata(ctx, runB, object("new", 1))
			},
			kept: func(p *patient) bool { return p.has("new") }},
		{name: "artifact",
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.AddArtifact(ctx, runB, tracker.Artifact{Name: "new", Path: "/new"})
			},
			kept: func(p *patient) bool { return len(p.run(runB).Artifacts) == 1 }},
		{name: "batch",
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				run := tracker.NewAppRun(runB, tr)
				return errors.Join(
					run.AddMetadata(ctx, object("new", 1)),
					run.AddMetadata(ctx, object("later", 2)),
					run.AddMetrics(ctx, 1, map[string]float64{"loss": 0.5}),
					run.Close())
			},
			kept: func(p *patient) bool { return p.has("new", "later", "metrics.loss") }},
		{name: "history",
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.AddBatch(ctx, runB, tracker.Batch{Metadata: object("rate", 2), History: map[string][]tracker.Change{"rate": {{Value: 1}}}})
			},
			kept: func(p *patient) bool {
				list, err := p.tracker.History(p.Context(), runB, "rate")
				check(p.T, err)
				return len(list) == 2
			}},
	}
}

func linkDeeds() []deed {
	link := func(run tracker.RunID, name string) deed {
		return deed{
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.AddSource(ctx, run, tracker.Source{ID: runA, Artifact: name})
			},
			kept: func(p *patient) bool { return p.hasLink(run, name) },
		}
	}
	first, further, behind := link(runC, "new"), link(runB, "new"), link(runB, "behind")
	first.name, further.name, behind.name = "first link", "further link", "link without its lines"
	behind.seed = func(p *patient) {
		p.put(key(runB, "heirloom", "links", runA.Encode(), b32("behind")), `{"time": "2026-11-21T10:00:00.000000000Z"}`)
	}
	return []deed{first, further, behind}
}

func attemptDeeds() []deed {
	start := func(p *patient) {
		_, err := p.tracker.StartAttempt(p.Context(), runB, tracker.AttemptStart{Host: "h"})
		check(p.T, err)
	}
	attempt := func(p *patient) (tracker.Attempt, bool) {
		list, err := p.tracker.Attempts(p.Context(), runB)
		check(p.T, err)
		if len(list) != 1 {
			return tracker.Attempt{}, false
		}
		return list[0], true
	}
	beat := deed{name: "beat", seed: start,
		do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error { return tr.Beat(ctx, runB, 1) },
		kept: func(p *patient) bool {
			a, ok := attempt(p)
			return ok && time.Since(a.Beat) < time.Hour
		}}
	again := beat
	again.name, again.seed = "beat again", func(p *patient) {
		start(p)
		p.put(key(runB, "heirloom", "attempts", "000001", "beat"), `{"time": "2026-01-01T10:00:00.000000000Z"}`)
	}
	return []deed{beat, again,
		{name: "start",
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				_, err := tr.StartAttempt(ctx, runB, tracker.AttemptStart{Host: "h"})
				return err
			},
			kept: func(p *patient) bool { _, ok := attempt(p); return ok }},
		{name: "end", seed: start,
			do: func(ctx context.Context, tr *tracker.FileTracker, _ *store.Store) error {
				return tr.EndAttempt(ctx, runB, 1, tracker.AttemptEnd{State: tracker.Failed})
			},
			kept: func(p *patient) bool {
				a, ok := attempt(p)
				return ok && a.End != nil && a.End.State == tracker.Failed
			}},
	}
}

// noGrace takes whatever is unfinished for abandoned: its writer is dead.
var noGrace = tracker.FsckOptions{Grace: -1}

// seedFaults breaks what a repair mends.
func seedFaults(p *patient) {
	for _, f := range faults() {
		if f.mends {
			f.seed(p)
		}
	}
}

func repair(ctx context.Context, tr *tracker.FileTracker, data *store.Store) error {
	opts := noGrace
	opts.Repair, opts.Data, opts.Aside = true, data, data.Sub("heirloom")
	_, err := tr.Fsck(ctx, &opts)
	return err
}

// doDeed is the process: it says when it begins, and when all was acknowledged.
func doDeed(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	at := slices.IndexFunc(deeds(), func(d deed) bool { return d.name == args[0] })
	data := tr.Store()
	fmt.Println("begin")
	if err := deeds()[at].do(ctx, tracker.NewFileTracker(data.Sub("tracker"), nil), data); err != nil {
		return err
	}
	fmt.Println("done")
	return nil
}

// isDone lets the process of a deed be killed, and says whether it was told that
// all is kept.
func isDone(t *testing.T, cmd *exec.Cmd) bool {
	t.Helper()
	out, err := cmd.Output()
	if err == nil || cmd.ProcessState.Exited() {
		t.Errorf("the process was not killed: %v", err)
	}
	return strings.HasSuffix(string(out), "done\n")
}

func (p *patient) run(id tracker.RunID) *tracker.Run {
	p.Helper()
	run, err := p.tracker.Run(p.Context(), id)
	if errors.Is(err, store.ErrNotExist) {
		return &tracker.Run{}
	}
	check(p.T, err)
	return run
}

// has says whether the metadata of B has all of keys.
func (p *patient) has(keys ...string) bool {
	m := p.run(runB).Metadata
	return !slices.ContainsFunc(keys, func(key string) bool { _, ok := m.Get(key); return !ok })
}

// hasLink says whether run has used the artifact of A, by all that tells of it.
func (p *patient) hasLink(run tracker.RunID, name string) bool {
	for _, file := range []string{key(run, "sources", runA.Encode()), key(runA, "descendants", run.Encode())} {
		body, err := p.root.Get(p.Context(), store.Key(file))
		if err != nil || !strings.Contains("\n"+string(body), "\n"+name+"\n") {
			return false
		}
	}
	return slices.Contains(links(p.run(run).Sources), string(runA)+"#"+name)
}

// examine looks at what a process left that was killed within d: first as it
// is, then after a repair, also with TorchX's eyes.
func (p *patient) examine(d deed, acknowledged bool, before map[string]string, x *torchx, path string) {
	p.Helper()
	if acknowledged && !d.kept(p) {
		p.Errorf("what was acknowledged is not there")
	}
	isRepair := d.name == "repair"
	for _, id := range []tracker.RunID{runA, runB, runC} {
		if run := p.run(id); len(run.Warnings) > 0 && !isRepair {
			p.Errorf("%s is half written: %v", id, run.Warnings)
		}
	}
	opts := noGrace
	opts.Repair = true
	for _, f := range p.fsck(opts).Findings {
		if !f.Repaired || !mended[f.Rule] && !isRepair {
			p.Errorf("found %s at %s: %s; %s", f.Rule, f.Key, f.Problem, f.Left)
		}
	}
	for _, f := range p.fsck(noGrace).Findings {
		p.Errorf("the repair left %s at %s: %s", f.Rule, f.Key, f.Problem)
	}
	maps.DeleteFunc(before, func(key, _ string) bool { return strings.HasSuffix(key, "/beat") })
	keeps(p.T, before, objects(p.T, p.data))
	sameInTorchX(p.T, p.tracker, x, path, 3)
}

// sameInTorchX compares what TorchX and heirloom see of the first runs of a root.
func sameInTorchX(t *testing.T, tr *tracker.FileTracker, x *torchx, path string, runs int) {
	t.Helper()
	x.ask(t, "open", path)
	all := ids(t, tr, "")
	o, err := pyjson.UnmarshalObject(x.ask(t, "view", anyTexts(all[:min(runs, len(all))]), []any{}))
	check(t, err)
	same(t, "TorchX's runs", texts(member(o, "run_ids")), all)
	for id, seen := range member(o, "runs").(*pyjson.Object).All() {
		seen, run := seen.(*pyjson.Object), &tracker.Run{}
		if r, err := tr.Run(t.Context(), tracker.RunID(id)); !errors.Is(err, store.ErrNotExist) { // a directory without records
			check(t, err)
			run = r
		}
		sameMap(t, "TorchX's metadata of "+id, dumps(t, member(seen, "metadata")), dumps(t, run.Metadata))
		artifacts := &pyjson.Object{}
		for _, a := range run.Artifacts {
			artifacts.Set(a.Name, []any{a.Path, metadataOf(a)})
		}
		sameMap(t, "TorchX's artifacts of "+id, dumps(t, member(seen, "artifacts")), dumps(t, artifacts))
		v := view{}
		v.addLinks("", member(seen, "sources").([]any))
		same(t, "TorchX's sources of "+id, v[""], named(run.Sources))
	}
}

// dumps is each member of an object as JSON.
func dumps(t testing.TB, v any) map[string]string {
	list := map[string]string{}
	for key, value := range v.(*pyjson.Object).All() {
		list[key] = dump(t, value)
	}
	return list
}

func metadataOf(a tracker.Artifact) any {
	if a.Metadata == nil {
		return nil
	}
	return a.Metadata
}

// named are the links as TorchX shows them, which drops the one without a name
// beside those with names.
func named(list []tracker.Source) []string {
	has := map[tracker.RunID]bool{}
	for _, s := range list {
		has[s.ID] = has[s.ID] || s.Artifact != ""
	}
	var texts []string
	for _, s := range list {
		if s.Artifact != "" || !has[s.ID] {
			texts = append(texts, string(s.ID)+"#"+s.Artifact)
		}
	}
	slices.Sort(texts)
	return texts
}
