//go:build unix

package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// modeRank makes the test binary one process of a launch: its arguments are the
// store, the name and a script.
const modeRank = "rank"

func rankForTest() {
	environ := os.Environ()
	launch, err := DetectLaunch(environ)
	if err == nil {
		var l *Launcher
		if l, err = openForTest(os.Args[1]); err == nil {
			var result Result
			result, err = l.Run(context.Background(), Job{
				Args: []string{"sh", "-c", os.Args[3]}, Environ: environ, Name: os.Args[2], Launch: launch,
				Sources: []tracker.Source{{ID: "data", Role: tracker.RoleInput, Name: "data"}},
			}, func(s Started) { fmt.Println(s.RunID) })
			if err == nil {
				os.Exit(result.ExitCode)
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(125)
}

// ranks starts processes of one launch.
type ranks struct {
	t    *testing.T
	url  string
	name string
	cmds []*exec.Cmd
	outs []*bytes.Buffer
}

func newRanks(t *testing.T) *ranks {
	return &ranks{t: t, url: t.TempDir()}
}

func (r *ranks) start(n int, environ func(rank int) []string, script string) {
	r.t.Helper()
	r.cmds, r.outs = nil, nil
	for rank := range n {
		cmd := exec.Command(os.Args[0], r.url, r.name, script)
		out := &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Env = append([]string{modeVar + "=" + modeRank, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + r.t.TempDir()}, environ(rank)...)
		if err := cmd.Start(); err != nil {
			r.t.Fatal(err)
		}
		r.cmds, r.outs = append(r.cmds, cmd), append(r.outs, out)
	}
}

// wait gives the exit codes, -1 for those that were killed.
func (r *ranks) wait() []int {
	var codes []int
	for i, cmd := range r.cmds {
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			r.t.Fatal(err)
		}
		codes = append(codes, cmd.ProcessState.ExitCode())
		if cmd.ProcessState.ExitCode() == 125 {
			r.t.Errorf("rank %d: %s", i, r.outs[i])
		}
	}
	return codes
}

// runs reads all that were recorded, by id.
func (r *ranks) runs() []*tracker.Run {
	r.t.Helper()
	l := newLauncher(r.t, r.url, nil)
	var list []*tracker.Run
	for id, err := range l.Tracker.RunIDs(r.t.Context(), "") {
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, readRun(r.t, l, id))
	}
	return list
}

func (r *ranks) only() *tracker.Run {
	r.t.Helper()
	list := r.runs()
	if len(list) != 1 {
		var ids []tracker.RunID
		for _, run := range list {
			ids = append(ids, run.ID)
		}
		r.t.Fatalf("%d runs: %q", len(list), ids)
	}
	return list[0]
}

func slurmRank(job, step string, size int, more ...string) func(int) []string {
	return func(rank int) []string {
		return append([]string{"SLURM_JOB_ID=" + job, "SLURM_STEP_ID=" + step, "SLURM_CLUSTER_NAME=c", "SLURM_PROCID=" + fmt.Sprint(rank), "SLURM_STEP_NUM_TASKS=" + fmt.Sprint(size)}, more...)
	}
}

func torchRank(id string, restart, size int) func(int) []string {
	return func(rank int) []string {
		return []string{"TORCHELASTIC_RUN_ID=" + id, fmt.Sprint("TORCHELASTIC_RESTART_COUNT=", restart), fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", size), fmt.Sprint("LOCAL_WORLD_SIZE=", size)}
	}
}

func mpiRank(space string, size int) func(int) []string {
	return func(rank int) []string {
		return []string{"PMIX_NAMESPACE=" + space, fmt.Sprint("OMPI_COMM_WORLD_RANK=", rank), fmt.Sprint("OMPI_COMM_WORLD_SIZE=", size)}
	}
}

func pmiRank(size int) func(int) []string {
	return func(rank int) []string {
		return []string{fmt.Sprint("PMI_RANK=", rank), fmt.Sprint("PMI_SIZE=", size), fmt.Sprint("MPI_LOCALNRANKS=", size)}
	}
}

// TestRanksAreOneRun starts eight processes as each kind of launcher does: all of
// them are one run, told once, each with logs and an end of its own.
func TestRanksAreOneRun(t *testing.T) {
	for name, environ := range map[string]func(int) []string{
		"srun":              slurmRank("123", "0", 8),
		"torchrun":          torchRank("job7", 0, 8),
		"torchrun, no id":   torchRank("none", 0, 8),
		"mpirun, Open MPI":  mpiRank("prterun-h-1@1", 8),
		"mpirun, MPICH":     pmiRank(8),
		"torchrun in Slurm": func(rank int) []string { return append(torchRank("none", 0, 8)(rank), slurmRank("9", "1", 1)(0)...) },
		"told by the user": func(rank int) []string {
			return []string{envJoin + "=mine", fmt.Sprint("RANK=", rank), "WORLD_SIZE=8"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRanks(t)
			r.start(8, environ, `echo "I am $HEIRLOOM_ROLE $HEIRLOOM_REPLICA of $HEIRLOOM_REPLICAS"; echo out > $HEIRLOOM_OUTPUT_DIR/r$HEIRLOOM_REPLICA; echo "{\"loss\": $HEIRLOOM_REPLICA}" >> $HEIRLOOM_METRICS`)
			if codes := r.wait(); slices.Max(codes) != 0 {
				t.Fatalf("exit codes %v", codes)
			}
			run := r.only()
			if run.State != tracker.Succeeded || len(run.Attempts) != 1 || len(run.Sources) != 1 {
				t.Errorf("state %s, %d attempts, sources %v", run.State, len(run.Attempts), run.Sources)
			}
			if n := countFiles(t, r.url, "tracker/*/metadata/*"); n != 2 {
				t.Errorf("%d records of metadata, want those of the start and of the end", n)
			}
			if n := len(run.Artifacts); n != 8+8 {
				t.Errorf("%d artifacts: %v", n, run.Artifacts)
			}
			if got := run.Metadata.Text("heirloom.state"); got != "SUCCEEDED" {
				t.Errorf("state in metadata %q", got)
			}
			if v, _ := run.Metadata.Get("metrics.loss"); fmt.Sprint(v) != "0" {
				t.Errorf("loss %v, want that of the first process", v)
			}
			for rank := range 8 {
				body, err := os.ReadFile(filepath.Join(r.url, string((store.Layout{}).LogsDir(string(run.ID), "main", rank, 1)), "stdout.log"))
				if want := fmt.Sprintf("I am main %d of 8\n", rank); err != nil || string(body) != want {
					t.Errorf("log of rank %d: %q %v", rank, body, err)
				}
			}
		})
	}
}

func countFiles(t *testing.T, dir, pattern string) int {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestRankFails: the run fails with the code of the first that did, and each
// process returns its own.
func TestRankFails(t *testing.T) {
	r := newRanks(t)
	r.start(8, slurmRank("5", "0", 8), `test $HEIRLOOM_REPLICA = 6 && exit 9; test $HEIRLOOM_REPLICA = 3 && exit 4; exit 0`)
	if codes := r.wait(); !slices.Equal(codes, []int{0, 0, 0, 4, 0, 0, 9, 0}) {
		t.Errorf("exit codes %v", codes)
	}
	run := r.only()
	end := run.Attempts[0].End
	if run.State != tracker.Failed || end.ExitCode == nil || *end.ExitCode != 4 {
		t.Errorf("state %s, end %+v", run.State, end)
	}
	if v, _ := run.Metadata.Get(KeyReplicaExitCodes); fmt.Sprint(v) != "[0 0 0 4 0 0 9 0]" {
		t.Errorf("codes %v", v)
	}
	if v, _ := run.Metadata.Get(KeyWarnings); !strings.Contains(fmt.Sprint(v), "failed: 3 (exit code 4), 6 (exit code 9)") {
		t.Errorf("warnings %v", v)
	}
}

// TestRankKilled kills one heirloom of eight: the first process records it, or,
// should it be that one, whoever ends last.
func TestRankKilled(t *testing.T) {
	for _, victim := range []int{0, 5} {
		t.Run(fmt.Sprint(victim), func(t *testing.T) {
			r := newRanks(t)
			gate := filepath.Join(t.TempDir(), "gate")
			r.start(8, slurmRank("5", "0", 8), `while ! test -e `+gate+`; do sleep 0.05; done`)
			l := newLauncher(t, r.url, nil)
			waitUntil(t, func() bool { return len(begun(t, l)) == 8 })
			if err := r.cmds[victim].Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = r.cmds[victim].Wait()
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i, cmd := range r.cmds {
				if i != victim {
					_ = cmd.Wait()
				}
			}
			run := r.only()
			if run.State != tracker.Failed || len(run.Attempts) != 1 {
				t.Errorf("state %s of %d attempts", run.State, len(run.Attempts))
			}
			if v, _ := run.Metadata.Get(KeyWarnings); !strings.Contains(fmt.Sprint(v), "vanished without a record of their end: "+fmt.Sprint(victim)) {
				t.Errorf("warnings %v", v)
			}
		})
	}
}

func begun(t *testing.T, l *Launcher) []tracker.Replica {
	t.Helper()
	for id, err := range l.Tracker.RunIDs(t.Context(), "") {
		if err != nil {
			return nil
		}
		list, err := l.Tracker.Replicas(t.Context(), id, 1)
		if err != nil {
			t.Fatal(err)
		}
		logs := countFiles(t, strings.TrimPrefix(l.Store.URL(), "file://"), "runs/*/logs/main/*/1/combined.log")
		return list[:min(len(list), logs)]
	}
	return nil
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("it took longer than five minutes")
}

// TestLaunchAgain: what the scheduler starts again is a further attempt, what a
// process calls afterwards another run, what it calls within a child, and other
// launches are other runs.
func TestLaunchAgain(t *testing.T) {
	r := newRanks(t)
	r.start(3, slurmRank("5", "0", 3), `exit 1`)
	r.wait()
	r.start(3, slurmRank("5", "0", 3, "SLURM_RESTART_COUNT=1"), `echo attempt $HEIRLOOM_ATTEMPT`)
	r.wait()
	run := r.only()
	if run.State != tracker.Succeeded || len(run.Attempts) != 2 || run.Attempts[0].State(time.Now()) != tracker.Failed {
		t.Fatalf("%s after %d attempts", run.State, len(run.Attempts))
	}
	if !strings.Contains(r.outs[2].String(), string(run.ID)) {
		t.Errorf("rank 2 says %q", r.outs[2])
	}
	r.start(3, slurmRank("5", "0", 3, "SLURM_RESTART_COUNT=1"), `exit 0`) // the next call of the same tasks
	r.wait()
	r.start(3, slurmRank("5", "1", 3), `exit 0`) // another step
	r.wait()
	r.start(3, slurmRank("6", "0", 3), `exit 0`) // another task of the array
	r.wait()
	if n := len(r.runs()); n != 4 {
		t.Errorf("%d runs, want 4", n)
	}
}

func TestTwoMpirunsOfOneBatchScript(t *testing.T) {
	r := newRanks(t)
	for _, space := range []string{"a", "b"} {
		r.start(2, func(rank int) []string {
			return append(mpiRank(space, 2)(rank), "SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_NTASKS=2")
		}, `exit 1`)
		r.wait()
	}
	if n := len(r.runs()); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
	for _, space := range []string{"c", "d"} { // the batch script is requeued
		r.start(2, func(rank int) []string {
			return append(mpiRank(space, 2)(rank), "SLURM_JOB_ID=7", "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_RESTART_COUNT=1")
		}, `exit 0`)
		r.wait()
	}
	for _, run := range r.runs() {
		if len(run.Attempts) != 2 || run.State != tracker.Succeeded {
			t.Errorf("%s: %s after %d attempts", run.ID, run.State, len(run.Attempts))
		}
	}
}

// TestRunWithinRank starts a run from within a joined one: it is a child, of each
// process one.
func TestRunWithinRank(t *testing.T) {
	r := newRanks(t)
	r.start(2, slurmRank("5", "0", 2), modeVar+`=`+modeRank+` exec `+os.Args[0]+` `+r.url+` inner 'exit 0'`)
	if codes := r.wait(); !slices.Equal(codes, []int{0, 0}) {
		t.Fatalf("exit codes %v", codes)
	}
	list := r.runs()
	children := 0
	for _, run := range list {
		if slices.ContainsFunc(run.Sources, func(s tracker.Source) bool { return s.Role == tracker.RoleParent }) {
			children++
		}
	}
	if len(list) != 3 || children != 2 {
		t.Errorf("%d runs, %d children", len(list), children)
	}
}

func TestDetectLaunch(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		want    string // ID, incarnation, instance, rank/size; "" = alone
		fails   bool
	}{
		{"nothing", nil, "", false},
		{"one task", slurmRank("1", "0", 1)(0), "", false},
		{"batch script", []string{"SLURM_JOB_ID=1", "SLURM_PROCID=0", "SLURM_NTASKS=8"}, "", false},
		{"srun", slurmRank("1", "2", 8)(3), "srun:c/1.2 0  3/8", false},
		{"srun, requeued", slurmRank("1", "2", 8, "SLURM_RESTART_COUNT=2")(3), "srun:c/1.2 2  3/8", false},
		{"srun with pmi2", append(slurmRank("1", "2", 8)(3), "PMI_RANK=3", "PMI_SIZE=8"), "srun:c/1.2 0  3/8", false},
		{"torchrun below srun", append(slurmRank("1", "0", 2)(1), torchRank("x", 4, 16)(9)...), "torchrun:x:c/1 0.4  9/16", false},
		{"mpirun in a batch script", append(mpiRank("s", 4)(2), "SLURM_JOB_ID=1", "SLURM_RESTART_COUNT=3"), "mpirun:/1 3 s 2/4", false},
		{"off", append(slurmRank("1", "2", 8)(3), "HEIRLOOM_JOIN=off"), "", false},
		{"within", append(slurmRank("1", "2", 8)(3), "HEIRLOOM_JOINED=srun:c/1.2#0#"), "", false},
		{"within another", append(slurmRank("1", "2", 8)(3), "HEIRLOOM_JOINED=srun:c/1.1#0#"), "srun:c/1.2 0  3/8", false},
		{"ranks of nobody", []string{"RANK=1", "WORLD_SIZE=4"}, "", false},
		{"told", []string{"RANK=1", "WORLD_SIZE=4", "HEIRLOOM_JOIN=j"}, "join:j   1/4", false},
		{"told without ranks", []string{"HEIRLOOM_JOIN=j"}, "", true},
		{"unknown mpirun", []string{"PMI_RANK=1", "PMI_SIZE=4"}, "", true},
		{"nonsense", []string{"PMI_RANK=4", "PMI_SIZE=4"}, "", true},
		{"more nonsense", []string{"PMI_RANK=x", "PMI_SIZE=4"}, "", true},
	} {
		l, err := DetectLaunch(c.environ)
		got := ""
		if l != nil {
			got = fmt.Sprintf("%s %s %s %d/%d", l.ID, l.Incarnation, l.Instance, l.Rank, l.Size)
		}
		if got != c.want || (err != nil) != c.fails || err != nil && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
