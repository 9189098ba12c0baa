package tracker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// patient is a store with a healthy tracker in it, whose writers ended long ago.
type patient struct {
	*testing.T
	data, root *store.Store
	tracker    *tracker.FileTracker
	clock      *wall
}

// newPatient has a run A with an artifact, and a run B that used it.
func newPatient(t *testing.T, url string) *patient {
	t.Helper()
	data := openStore(t, url, nil)
	p := &patient{T: t, data: data, root: data.Sub("tracker"), clock: newWall()}
	p.clock.now = time.Now().UTC() // a local disk has its own idea of the time
	p.tracker = tracker.NewFileTracker(p.root, &tracker.Options{Now: p.clock.Now, Rand: &counter{}, Warn: func(tracker.Warning) {}})
	ctx := t.Context()
	check(t, p.tracker.Init(ctx, tracker.InitOptions{}))
	n, err := p.tracker.StartAttempt(ctx, runA, tracker.AttemptStart{Host: "h"})
	check(t, err)
	check(t, p.tracker.Beat(ctx, runA, n))
	check(t, p.tracker.AddMetadata(ctx, runA, object("lr", 0.1)))
	check(t, data.Put(ctx, "runs/a/model", []byte("weights")))
	check(t, p.tracker.AddArtifact(ctx, runA, tracker.Artifact{Name: "model", Path: data.KeyURL("runs/a/model"), Metadata: object(
		tracker.KeyKey, "runs/a/model", tracker.KeySizeBytes, int64(7), tracker.KeySHA256, string(store.DigestOf([]byte("weights"))))}))
	check(t, p.tracker.EndAttempt(ctx, runA, n, tracker.AttemptEnd{State: tracker.Succeeded}))
	check(t, p.tracker.AddMetadata(ctx, runB, object("lr", 0.2)))
	check(t, p.tracker.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "model"}))
	p.clock.move(time.Hour)
	return p
}

func (p *patient) put(key, body string) { put(p.T, p.root, key, body) }

func (p *patient) remove(key string) {
	p.Helper()
	check(p.T, p.root.Delete(p.Context(), store.Key(key)))
}

// first is the only object below a directory of a run.
func (p *patient) first(run tracker.RunID, dir string) string {
	p.Helper()
	for o, err := range p.root.List(p.Context(), key(run, dir)+"/") {
		check(p.T, err)
		return string(o.Key)
	}
	p.Fatalf("nothing below %s", dir)
	return ""
}

func (p *patient) fsck(opts tracker.FsckOptions) *tracker.FsckReport {
	p.Helper()
	opts.Data, opts.Aside = p.data, p.data.Sub("heirloom")
	report, err := p.tracker.Fsck(p.Context(), &opts)
	check(p.T, err)
	return report
}

func rules(r *tracker.FsckReport) []string {
	list := []string{}
	for _, f := range r.Findings {
		list = append(list, string(f.Rule))
	}
	return slices.Compact(list)
}

// fault is one thing that can be wrong.
type fault struct {
	name string
	rule tracker.Rule
	seed func(p *patient)
	opts tracker.FsckOptions
	// mends says that Repair leaves nothing of it.
	mends bool
}

func faults() []fault {
	link := func(p *patient) string { return p.first(runB, "heirloom/links") }
	return []fault{
		{name: "format", rule: tracker.RuleFormat, mends: true, seed: func(p *patient) { p.put("heirloom.json", "{") }},
		{name: "directory foreign", rule: tracker.RuleDirectoryForeign, mends: true, seed: func(p *patient) { p.put(".ipynb_checkpoints/x", "x") }},
		{name: "directory misspelt", rule: tracker.RuleDirectoryMisspelt, mends: true, seed: func(p *patient) {
			p.put(strings.ToLower(strings.TrimRight(runC.Encode(), "="))+"/metadata/1", `{"metadata": {}}`)
		}},
		{name: "no id", rule: tracker.RuleIDEmpty, mends: true, seed: func(p *patient) { p.put("metadata/1", `{"metadata": {}}`) }},
		{name: "bad id", rule: tracker.RuleIDBad, mends: true, seed: func(p *patient) { p.put(b32("a\nb")+"/metadata/1", `{"metadata": {}}`) }},
		{name: "twins in case", rule: tracker.RuleIDTwin, seed: func(p *patient) { p.put(b32(strings.ToUpper(string(runA)))+"/metadata/1", `{"metadata": {}}`) }},
		{name: "twins in Unicode", rule: tracker.RuleIDTwin, seed: func(p *patient) {
			p.put(b32("caf\u00e9")+"/metadata/1", `{"metadata": {}}`)
			p.put(b32("cafe\u0301")+"/metadata/1", `{"metadata": {}}`)
		}},
		{name: "torn metadata", rule: tracker.RuleRecordDamaged, mends: true, seed: func(p *patient) { p.put(key(runA, "metadata", "5"), `{"metadata": {"o": `) }},
		{name: "empty metadata", rule: tracker.RuleRecordDamaged, mends: true, seed: func(p *patient) { p.put(key(runA, "metadata", "5"), "") }},
		{name: "torn artifact", rule: tracker.RuleRecordDamaged, mends: true, seed: func(p *patient) { p.put(key(runA, "artifacts", "5"), `{"name": "m", `) }},
		{name: "artifact without a path", rule: tracker.RuleRecordDamaged, mends: true, seed: func(p *patient) { p.put(key(runA, "artifacts", "5"), `{"name": "m"}`) }},
		{name: "foreign metadata", rule: tracker.RuleRecordForeign, mends: true, seed: func(p *patient) { p.put(key(runA, "metadata", "notes.json"), `{"metadata": {"note": "kept"}}`) }},
		{name: "foreign artifact", rule: tracker.RuleRecordForeign, mends: true, seed: func(p *patient) { p.put(key(runA, "artifacts", ".DS_Store"), "\x00\x01") }},
		{name: "directory among records", rule: tracker.RuleRecordNested, mends: true, seed: func(p *patient) { p.put(key(runA, "metadata", "old", "5"), `{"metadata": {}}`) }},
		{name: "directory among sources", rule: tracker.RuleRecordNested, mends: true, seed: func(p *patient) { p.put(key(runA, "sources", "old", "x"), "\n") }},
		{name: "record of the future", rule: tracker.RuleRecordFuture, seed: func(p *patient) {
			p.put(key(runA, "metadata", fmt.Sprint(time.Now().AddDate(10, 0, 0).UnixNano())), `{"metadata": {}}`)
		}},
		{name: "records of one time", rule: tracker.RuleRecordClash, seed: func(p *patient) {
			p.put(key(runA, "metadata", "5-a"), `{"metadata": {"x": 1}}`)
			p.put(key(runA, "metadata", "5-b"), `{"metadata": {"x": 2}}`)
		}},
		{name: "foreign object", rule: tracker.RuleObjectForeign, seed: func(p *patient) { p.put(key(runA, "readme.txt"), "hello") }},
		{name: "foreign source", rule: tracker.RuleSourceForeign, mends: true, seed: func(p *patient) { p.put(key(runB, "sources", "x.swp"), "\n") }},
		{name: "foreign descendant", rule: tracker.RuleDescendantForeign, mends: true, seed: func(p *patient) { p.put(key(runA, "descendants", "x.swp"), "\n") }},
		{name: "torn line", rule: tracker.RuleTextTorn, mends: true, seed: func(p *patient) { p.put(key(runB, "sources", runA.Encode()), "mod") }},
		{name: "overwritten by TorchX", rule: tracker.RuleLinkUnmirrored, mends: true, seed: func(p *patient) { p.put(key(runB, "sources", runA.Encode()), "other\n") }},
		{name: "no text file", rule: tracker.RuleLinkUnmirrored, mends: true, seed: func(p *patient) { p.remove(key(runB, "sources", runA.Encode())) }},
		{name: "no mirror", rule: tracker.RuleDescendantMissing, mends: true, seed: func(p *patient) { p.remove(key(runA, "descendants", runB.Encode())) }},
		{name: "mirror alone", rule: tracker.RuleDescendantAlone, seed: func(p *patient) { p.put(key(runA, "descendants", runC.Encode()), "model\n") }},
		{name: "damaged link", rule: tracker.RuleLinkDamaged, mends: true, seed: func(p *patient) { p.put(link(p), "{") }},
		{name: "foreign link", rule: tracker.RuleLinkForeign, mends: true, seed: func(p *patient) { p.put(key(runB, "heirloom", "links", runA.Encode(), "x"), "{}") }},
		{name: "damaged start", rule: tracker.RuleAttemptDamaged, seed: func(p *patient) { p.put(key(runA, "heirloom", "attempts", "000001", "start"), "{") }},
		{name: "damaged end", rule: tracker.RuleAttemptDamaged, seed: func(p *patient) { p.put(key(runA, "heirloom", "attempts", "000001", "end"), "") }},
		{name: "foreign attempt", rule: tracker.RuleAttemptForeign, mends: true, seed: func(p *patient) { p.put(key(runA, "heirloom", "attempts", "one", "start"), "{}") }},
		{name: "no start", rule: tracker.RuleAttemptUnstarted, seed: func(p *patient) { p.remove(key(runA, "heirloom", "attempts", "000001", "start")) }},
		{name: "artifact's name", rule: tracker.RuleArtifactName, seed: func(p *patient) {
			p.put(key(runA, "artifacts", "5"), `{"name": "a\nb", "path": "x", "metadata": null}`)
		}},
		{name: "artifact's key", rule: tracker.RuleArtifactKey, seed: func(p *patient) {
			p.put(key(runA, "artifacts", "5"), `{"name": "a", "path": "x", "metadata": {"heirloom.key": "../../etc/passwd"}}`)
		}},
		{name: "artifact gone", rule: tracker.RuleArtifactMissing, seed: func(p *patient) { check(p.T, p.data.Delete(p.Context(), "runs/a/model")) }},
		{name: "artifact cut", rule: tracker.RuleArtifactSize, seed: func(p *patient) { check(p.T, p.data.Put(p.Context(), "runs/a/model", []byte("weigh"))) }},
		{name: "artifact changed", rule: tracker.RuleArtifactDigest, opts: tracker.FsckOptions{ReadData: true}, seed: func(p *patient) {
			check(p.T, p.data.Put(p.Context(), "runs/a/model", []byte("Weights")))
		}},
		{name: "secret", rule: tracker.RuleSecret, opts: tracker.FsckOptions{Secrets: true}, seed: func(p *patient) {
			p.put(key(runA, "metadata", "5"), `{"metadata": {"db": {"password": "hunter2hunter2"}}}`)
		}},
		{name: "secret in a command", rule: tracker.RuleSecret, opts: tracker.FsckOptions{Secrets: true}, seed: func(p *patient) {
			p.put(key(runA, "metadata", "5"), `{"metadata": {"argv": ["train", "--token", "abcdefgh12345678"]}}`)
		}},
		{name: "nameless beside named", rule: tracker.RuleTorchXNameless, opts: tracker.FsckOptions{TorchX: true}, seed: func(p *patient) {
			check(p.T, p.tracker.AddSource(p.Context(), runB, tracker.Source{ID: runA}))
			p.clock.move(time.Hour)
		}},
		{name: "value written twice", rule: tracker.RuleTorchXOrder, opts: tracker.FsckOptions{TorchX: true}, seed: func(p *patient) {
			p.put(key(runA, "metadata", "5"), `{"metadata": {"lr": 7}}`)
		}},
	}
}

// TestFsckFaults wants each fault found, alone, and what can be mended mended.
func TestFsckFaults(t *testing.T) {
	t.Run("memory", func(t *testing.T) { eachFault(t, func(*testing.T, int) string { return "mem://" }) })
	t.Run("disk", func(t *testing.T) { eachFault(t, func(t *testing.T, _ int) string { return t.TempDir() }) })
	t.Run("minio", func(t *testing.T) {
		server := servers.MinIO(t)
		eachFault(t, func(_ *testing.T, i int) string { return server.URL(fmt.Sprint("faults/", i)) })
	})
	t.Run("versitygw", func(t *testing.T) {
		server := servers.VersityGW(t)
		eachFault(t, func(_ *testing.T, i int) string { return server.URL(fmt.Sprint("faults/", i)) })
	})
}

// eachFault seeds every fault into a place of its own.
func eachFault(t *testing.T, place func(t *testing.T, i int) string) {
	for i, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			p := newPatient(t, place(t, i))
			if found := p.fsck(f.opts); len(found.Findings) > 0 {
				t.Fatalf("before: %v", found.Findings)
			}
			f.seed(p)
			found := p.fsck(f.opts)
			same(t, "found", rules(found), []string{string(f.rule)})
			if found.Broken() != len(found.Findings) {
				t.Errorf("%d of %d are broken though nothing was repaired", found.Broken(), len(found.Findings))
			}
			before := objects(t, p.data)
			f.opts.Repair = true
			repaired := p.fsck(f.opts)
			for _, one := range repaired.Findings {
				if one.Repaired != f.mends || one.Left != "" {
					t.Errorf("repair: %+v", one)
				}
			}
			once := objects(t, p.data)
			keeps(t, before, once)
			again := p.fsck(f.opts)
			sameMap(t, "a second repair", objects(t, p.data), once)
			if f.mends && len(again.Findings) > 0 {
				t.Errorf("after repair: %v", again.Findings)
			}
		})
	}
}

// keeps wants every body that was there to be there still, wherever.
func keeps(t *testing.T, before, after map[string]string) {
	t.Helper()
	have := map[string]bool{}
	for _, body := range after {
		have[body] = true
	}
	for key, body := range before {
		extended := len(after[key]) > len(body) && strings.HasPrefix(after[key], body)
		if !have[body] && !extended {
			t.Errorf("%s with %q is nowhere after the repair", key, body)
		}
	}
}

// TestFsckAdopts keeps what TorchX could read under a foreign name.
func TestFsckAdopts(t *testing.T) {
	p := newPatient(t, "mem://")
	p.put(key(runA, "metadata", "notes.json"), `{"metadata": {"note": "kept"}}`)
	p.fsck(tracker.FsckOptions{Repair: true})
	m, err := p.tracker.Metadata(t.Context(), runA)
	check(t, err)
	if m.Text("note") != "kept" {
		t.Errorf("metadata is %s", dump(t, m))
	}
}

// TestFsckLeavesWriters does not touch what somebody may be about to complete.
func TestFsckLeavesWriters(t *testing.T) {
	p := newPatient(t, "mem://")
	p.clock.now = time.Now()
	torn := key(runA, "metadata", "5")
	p.put(torn, `{"metadata": {`)
	p.put(key(runB, "heirloom", "links", runA.Encode(), strings.ToUpper(b32("young"))), fmt.Sprintf(`{"time": %q}`, p.clock.now.UTC().Format(time.RFC3339Nano)))
	report := p.fsck(tracker.FsckOptions{Repair: true})
	same(t, "found", rules(report), []string{string(tracker.RuleRecordDamaged)})
	if f := report.Findings[0]; f.Repaired || !strings.Contains(f.Left, "too young") {
		t.Errorf("finding is %+v", f)
	}
	if _, err := p.root.Get(t.Context(), store.Key(torn)); err != nil {
		t.Error(err)
	}
}

// TestFsckFixtures is silent about what TorchX itself wrote.
func TestFsckFixtures(t *testing.T) {
	for _, version := range []string{"v0.7", "v0.8"} {
		t.Run(version, func(t *testing.T) {
			tr := tracker.NewFileTracker(openStore(t, filepath.Join(fixtures, version, "root"), nil), nil)
			report, err := tr.Fsck(t.Context(), nil)
			check(t, err)
			for _, f := range report.Findings {
				t.Errorf("%s %s: %s", f.Rule, f.Key, f.Problem)
			}
		})
	}
}

// TestFsckEmptyDirectory is about what only a local disk has.
func TestFsckEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	p := newPatient(t, dir)
	check(t, os.MkdirAll(filepath.Join(dir, "tracker", "lost+found", "a", "b"), 0o777))
	check(t, os.MkdirAll(filepath.Join(dir, "tracker", runA.Encode(), "metadata", "old", "a"), 0o777))
	same(t, "found", rules(p.fsck(tracker.FsckOptions{Repair: true})), []string{string(tracker.RuleRecordNested), string(tracker.RuleDirectoryForeign)})
	if after := p.fsck(tracker.FsckOptions{}); len(after.Findings) > 0 {
		t.Errorf("after repair: %v", after.Findings)
	}
}

// TestFsckEmptyRun finds the directory of a run whose writer was killed before its
// first record, once no writer can be about to make it.
func TestFsckEmptyRun(t *testing.T) {
	dir := t.TempDir()
	p := newPatient(t, dir)
	check(t, os.MkdirAll(filepath.Join(dir, "tracker", runC.Encode(), "metadata"), 0o777))
	p.clock.now = time.Now()
	if young := p.fsck(tracker.FsckOptions{Repair: true}); len(young.Findings) > 0 {
		t.Errorf("while a writer may be at it: %v", young.Findings)
	}
	p.clock.move(time.Hour)
	same(t, "runs before", ids(t, p.tracker, ""), []string{string(runC), string(runA), string(runB)})
	report := p.fsck(tracker.FsckOptions{Repair: true})
	same(t, "found", rules(report), []string{string(tracker.RuleRunEmpty)})
	if report.Broken() > 0 {
		t.Errorf("left: %+v", report.Findings)
	}
	same(t, "runs after", ids(t, p.tracker, ""), []string{string(runA), string(runB)})
	if after := p.fsck(tracker.FsckOptions{}); len(after.Findings) > 0 {
		t.Errorf("after repair: %v", after.Findings)
	}
}

// TestFsckLongID is about what only an object store has room for, and our own
// store does not write.
func TestFsckLongID(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	check(t, bucket.WriteAll(t.Context(), b32(strings.Repeat("x", 156))+"/metadata/1", []byte(`{"metadata": {}}`), nil))
	check(t, bucket.WriteAll(t.Context(), runA.Encode()+"/metadata/", nil, nil))
	s := store.FromBucket(bucket, "mem://", nil)
	defer s.Close()
	report, err := tracker.NewFileTracker(s, nil).Fsck(t.Context(), &tracker.FsckOptions{Repair: true})
	check(t, err)
	same(t, "found", rules(report), []string{string(tracker.RuleDirectoryMark), string(tracker.RuleIDLong)})
}

// TestTorchXReadsRepaired breaks a root in every way that a repair mends, and
// lets TorchX read what comes of it.
func TestTorchXReadsRepaired(t *testing.T) {
	dir := t.TempDir()
	p := newPatient(t, dir)
	want := 0
	for _, f := range faults() {
		if f.mends {
			f.seed(p)
			want++
		}
	}
	if report := p.fsck(tracker.FsckOptions{Repair: true}); report.Broken() > 0 || len(report.Findings) < 15 {
		t.Fatalf("%d findings of %d faults, %d left: %+v", len(report.Findings), want, report.Broken(), report.Findings)
	}
	seen, err := pyjson.UnmarshalObject(script(t, nil, "", "torchx_read.py", filepath.Join(dir, "tracker")))
	check(t, err)
	same(t, "runs", texts(member(seen, "run_ids")), ids(t, p.tracker, ""))
	run := member(member(seen, "runs").(*pyjson.Object), string(runB)).(*pyjson.Object)
	if got := dump(t, member(run, "sources")); got != `[["local://torchx/prepare-aaa", "model"]]` && got != `[["local://torchx/prepare-aaa", "model"], ["local://torchx/prepare-aaa", "other"]]` {
		t.Errorf("sources are %s", got)
	}
}
