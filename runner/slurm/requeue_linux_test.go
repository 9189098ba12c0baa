package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// lab is a cluster with a store and a runner.
type lab struct {
	*servers.Slurm
	t       *testing.T
	url     string
	tracker *tracker.FileTracker
	store   *store.Store
	r       *runner.Runner
	s       *Scheduler
}

func newLab(t *testing.T, c *servers.Slurm) *lab {
	t.Helper()
	l := &lab{Slurm: c, t: t, url: t.TempDir()}
	var err error
	if l.store, err = store.Open(t.Context(), l.url, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.store.Close() })
	l.tracker = tracker.NewFileTracker(l.store.Sub(l.store.Layout().Tracker()), nil)
	open := openCluster(t, c)
	l.s = open(t).(*Scheduler)
	l.r, err = runner.New("", []runner.Backend{{Name: Name, Open: func(context.Context) (runner.Scheduler, error) { return open(t), nil }}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.r.Close() })
	return l
}

func (l *lab) request(app runner.App, cfg runner.Config) runner.Request {
	return runner.Request{App: app, Config: cfg, Dir: l.t.TempDir(), Recording: runner.Recording{Store: l.url}}
}

func (l *lab) submit(app runner.App, cfg runner.Config) runner.Handle {
	l.t.Helper()
	h, err := l.r.Run(l.t.Context(), l.request(app, cfg))
	if err != nil {
		l.t.Fatalf("run: %v", err)
	}
	return h
}

func (l *lab) wait(h runner.Handle) runner.AppStatus {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 5*time.Minute)
	defer cancel()
	status, err := l.r.Wait(ctx, h, &runner.WaitOptions{Every: 200 * time.Millisecond})
	if err != nil {
		d, _ := l.s.open(h)
		log := ""
		if d != nil {
			files, _ := filepath.Glob(d.base.file("slurm-*.out"))
			for _, f := range files {
				body, _ := os.ReadFile(f)
				log += string(body)
			}
		}
		l.t.Fatalf("wait for %s: %v; %+v\n%s", h, err, status, log)
	}
	return status
}

func (l *lab) until(what string, so func() bool) {
	l.t.Helper()
	for end := time.Now().Add(10 * time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("not within the time: %s", what)
		}
	}
}

func (l *lab) recorded(id tracker.RunID) *tracker.Run {
	l.t.Helper()
	run, err := l.tracker.Run(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return run
}

// shell is a role that runs a script of sh.
func shell(name, script string, replicas int) runner.Role {
	return runner.Role{Name: name, Entrypoint: "sh", Args: []string{"-c", runner.EscapeMacros(script)}, NumReplicas: replicas}
}

// training resumes from the checkpoint of its rank, if there is one, else writes it and
// waits for the node to go.
const training = `set -e
ckpt="$HEIRLOOM_CHECKPOINT_DIR/rank-$HEIRLOOM_REPLICA.json"
cp "$HEIRLOOM_RUN_DATA" "$HEIRLOOM_OUTPUT_DIR/seen-$HEIRLOOM_REPLICA"
if [ -e "$ckpt" ]; then
  echo "attempt $HEIRLOOM_ATTEMPT of rank $HEIRLOOM_REPLICA on $SLURMD_NODENAME resumes from $(cat "$ckpt")"
  echo "{\"step\": 20, \"loss\": 0.1}" >> "$HEIRLOOM_METRICS"
  echo "step 20, from $(cat "$ckpt")" > "$HEIRLOOM_OUTPUT_DIR/model-$HEIRLOOM_REPLICA.bin"
  exit 0
fi
echo "{\"step\": 10, \"loss\": 0.5}" >> "$HEIRLOOM_METRICS"
echo "step 10 of rank $HEIRLOOM_REPLICA" > "$ckpt.new" && mv "$ckpt.new" "$ckpt"
echo "attempt $HEIRLOOM_ATTEMPT of rank $HEIRLOOM_REPLICA on $SLURMD_NODENAME wrote a checkpoint"
sleep 600`

// A node is taken away from under a training job on two nodes with two ranks each:
// Slurm requeues it, and it is one run with two attempts that resumed.
func TestNodeIsTakenAway(t *testing.T) {
	l := newLab(t, servers.StartSlurm(t, nil))
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := l.submit(runner.App{Name: "prepare", Roles: []runner.Role{shell("main", `echo rows > "$HEIRLOOM_OUTPUT_DIR/rows.txt"`, 1)}}, nil)
	if status := l.wait(before); status.State != tracker.Succeeded {
		t.Fatalf("the run before: %+v", status)
	}
	role := shell("trainer", training, 4)
	role.Env = map[string]string{"HEIRLOOM_RUN_DATA": data}
	request := l.request(runner.App{Name: "train", Roles: []runner.Role{role}}, runner.Config{"ntasks_per_node": int64(2)})
	request.Recording.Sources = []tracker.Source{{ID: before.RunID(), Artifact: "rows.txt"}}
	h, err := l.r.Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.s.open(h)
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := l.store.LocalPath(l.store.Layout().RunDir(string(h.RunID())))
	l.until("four checkpoints", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "checkpoints", "rank-?.json"))
		return len(found) == 4
	})
	status, err := l.r.Status(t.Context(), h)
	if err != nil || status.State != tracker.Running {
		t.Fatalf("while it runs: %+v, %v", status, err)
	}
	nodes := map[string]int{}
	for _, r := range status.Roles[0].Replicas {
		nodes[r.Hostname]++
	}
	if len(nodes) != 2 || nodes[status.Roles[0].Replicas[0].Hostname] != 2 {
		t.Fatalf("the replicas are on %v", nodes)
	}
	l.KillNode(status.Roles[0].Replicas[3].Hostname)
	l.until("requeued", func() bool {
		status, err = l.r.Status(t.Context(), h)
		return err == nil && status.State == tracker.Pending
	})
	l.until("recorded so", func() bool { return l.recorded(h.RunID()).State == tracker.Pending })
	l.Release(a.sub.JobID)
	status = l.wait(h)
	if status.State != tracker.Succeeded || status.NumRestarts != 1 || status.Replica("trainer", 2).Attempt != 2 {
		t.Fatalf("at the end: %+v", status)
	}
	l.checkTraining(h, before)
}

func (l *lab) checkTraining(h, before runner.Handle) {
	l.t.Helper()
	run := l.recorded(h.RunID())
	if run.State != tracker.Succeeded || len(run.Attempts) != 2 || run.Attempts[1].End == nil {
		l.t.Fatalf("recorded: %s, %+v", run.State, run.Attempts)
	}
	var all []tracker.RunID
	for id, err := range l.tracker.RunIDs(l.t.Context(), "") {
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, id)
	}
	if len(all) != 2 {
		l.t.Errorf("the runs are %v", all)
	}
	var artifacts []string
	for _, a := range run.Artifacts {
		artifacts = append(artifacts, a.Name)
	}
	slices.Sort(artifacts)
	for rank := range 4 {
		for _, name := range []string{fmt.Sprintf("checkpoints/rank-%d.json", rank), fmt.Sprintf("model-%d.bin", rank)} {
			if !slices.Contains(artifacts, name) {
				l.t.Errorf("%s is not among the artifacts %v", name, artifacts)
			}
		}
		body, err := l.store.Get(l.t.Context(), l.store.Layout().RunDir(string(h.RunID())).Join(fmt.Sprintf("model-%d.bin", rank)))
		if want := fmt.Sprintf("step 20, from step 10 of rank %d\n", rank); err != nil || string(body) != want {
			l.t.Errorf("the model of rank %d is %q, %v", rank, body, err)
		}
	}
	lineage, err := l.tracker.Lineage(l.t.Context(), before.RunID())
	if err != nil || !strings.Contains(fmt.Sprint(lineage), string(h.RunID())) {
		l.t.Errorf("the lineage of what it used is %+v, %v", lineage, err)
	}
	var log strings.Builder
	for line, err := range l.r.Logs(l.t.Context(), h, runner.LogQuery{Replicas: []int{1}}) {
		if err != nil {
			l.t.Fatal(err)
		}
		fmt.Fprintf(&log, "%d %s", line.Attempt, line.Text)
	}
	if text := log.String(); !strings.Contains(text, "1 attempt 1 of rank 1") || !strings.Contains(text, "2 attempt 2 of rank 1") {
		l.t.Errorf("the log of rank 1 is %q", text)
	}
}
