package slurm

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func at(text string) time.Time {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return t
}

// What squeue of 22.05 printed, and a few lines that no sane site has.
const queueText = `1|1|N/A|RUNNING|2026-11-21T20:38:30|2026-11-21T20:38:31|2027-11-21T20:38:31|root|n[1-2]|None|heirloom:slurm://torchx/a-b#L 1 more|a-b
2|2+1|N/A|PENDING|2026-11-21T20:38:30|N/A|N/A|root||Resources|(null)|h2
4|4_0|0|COMPLETED|2026-11-21T20:38:30|2026-11-21T20:38:31|2026-11-21T20:38:36|ann|n3|NonZeroExitCode|a|b|c
7|7_[1-9%2]|1-9%2|PENDING|2026-11-21T20:38:30|N/A|N/A|ann||Priority|(null)|
`

func TestParseQueue(t *testing.T) {
	jobs, err := parseQueue(queueText)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	want := job{
		ID: "1", Leader: "1", State: "RUNNING", User: "root", Nodes: "n[1-2]", Name: "a-b", Comment: "heirloom:slurm://torchx/a-b#L 1 more",
		Submitted: at("2026-11-21 20:38:30"), Started: at("2026-11-21 20:38:31"), Ended: at("2027-11-21 20:38:31"),
	}
	if !reflect.DeepEqual(jobs[0], want) {
		t.Errorf("%+v, want %+v", jobs[0], want)
	}
	if j := jobs[1]; j.ID != "2+1" || j.Leader != "2" || j.Reason != "Resources" || j.Comment != "" || !j.Started.IsZero() {
		t.Errorf("a component: %+v", j)
	}
	if j := jobs[2]; j.Task != "0" || j.Comment != "a|b" || j.Name != "c" {
		t.Errorf("a task: %+v", j)
	}
	for _, text := range []string{"garbage", "<html>", strings.Repeat("|", 20), "x|1|N/A|RUNNING|a|b|c|d|e|f|g|h", "1|1|N/A|running|a|b|c|d|e|f|g|h"} {
		if _, err := parseQueue(text); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const showText = `JobId=1 JobName=a JobState=FAILED b UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901759 Nice=0 Account=(null) QOS=(null) JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:02 TimeLimit=365-00:00:00 TimeMin=N/A SubmitTime=2026-11-21T20:38:30 EligibleTime=2026-11-21T20:38:30 AccrueTime=2026-11-21T20:38:30 StartTime=2026-11-21T20:38:31 EndTime=2027-11-21T20:38:31 Deadline=N/A Partition=main ReqNodeList=(null) ExcNodeList=(null) NodeList=n[1-2] BatchHost=n1 NumNodes=2 Command=/tmp/JobState=TIMEOUT x/batch.sh WorkDir=/tmp/w Comment=heirloom:slurm://torchx/a-b#L x  StdErr=/tmp/o-1.log StdIn=/dev/null StdOut=/tmp/o-1.log Power= 
JobId=6 ArrayJobId=4 ArrayTaskId=1 JobName=wrap UserId=ann(7) JobState=FAILED Reason=NonZeroExitCode Dependency=(null) Requeue=1 Restarts=0 ExitCode=3:0 SubmitTime=2026-11-21T20:38:30 StartTime=2026-11-21T20:38:31 EndTime=2026-11-21T20:38:36 NodeList=n3 Command=(null)
JobId=2 HetJobId=2 HetJobOffset=0 JobName=h UserId=root(0) JobState=CANCELLED Reason=None ExitCode=0:15 SubmitTime=Unknown StartTime=Unknown NodeList=(null) Command=x
`

func TestParseJobs(t *testing.T) {
	jobs, err := parseJobs(showText)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	want := job{
		ID: "1", Leader: "1", State: "RUNNING", Restarts: 2, HasExit: true, User: "root", Nodes: "n[1-2]", Name: "a JobState=FAILED b",
		Comment:   "heirloom:slurm://torchx/a-b#L x",
		Submitted: at("2026-11-21 20:38:30"), Started: at("2026-11-21 20:38:31"), Ended: at("2027-11-21 20:38:31"),
	}
	if !reflect.DeepEqual(jobs[0], want) {
		t.Errorf("%+v\nwant %+v", jobs[0], want)
	}
	if j := jobs[1]; j.ID != "4_1" || j.Leader != "4" || j.Task != "1" || j.Code != 3 || j.Signal != 0 || j.Reason != "NonZeroExitCode" {
		t.Errorf("a task: %+v", j)
	}
	if j := jobs[2]; j.ID != "2+0" || j.Signal != 15 || j.Nodes != "" {
		t.Errorf("a component: %+v", j)
	}
	for _, text := range []string{"garbage", "JobId=x UserId=y", "JobId=1 JobName=a UserId=b"} {
		if _, err := parseJobs(text); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const accountText = `17|FAILED|3:0|2026-11-21T20:38:30|2026-11-21T20:38:31|2026-11-21T20:38:36|root|n[1-2]|run:xyz|name
17.batch|FAILED|3:0|2026-11-21T20:38:30|2026-11-21T20:38:31|2026-11-21T20:38:36||n1||batch
18_3|CANCELLED by 0|0:15|2026-11-21T20:38:30|None|Unknown|root|None assigned||a|b
19+1|RUNNING|0:0|2026-11-21T20:38:30|2026-11-21T20:38:31|Unknown|root|n1||h
`

func TestParseAccount(t *testing.T) {
	jobs, err := parseAccount(accountText)
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	if j := jobs[0]; j.ID != "17" || j.State != "FAILED" || j.Code != 3 || !j.HasExit || j.Comment != "run:xyz" || j.Name != "name" {
		t.Errorf("%+v", j)
	}
	if j := jobs[1]; j.Leader != "18" || j.Task != "3" || j.State != "CANCELLED" || j.Signal != 15 || j.Name != "a|b" || j.Nodes != "" {
		t.Errorf("a task: %+v", j)
	}
	if j := jobs[2]; j.Leader != "19" || j.Task != "" || j.ID != "19+1" {
		t.Errorf("a component: %+v", j)
	}
	for _, text := range []string{"garbage", "Slurm accounting storage is disabled", "x|FAILED|3:0|||||||"} {
		if _, err := parseAccount(text); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSubmission(t *testing.T) {
	for text, want := range map[string][2]string{
		"123\n": {"123"}, "123;lab\n": {"123", "lab"}, "Welcome to the cluster!\nquota: 5%\n42\n": {"42"}, "7": {"7"},
		"": {}, "Submitted batch job 123\n": {}, "12x\n": {}, "-1": {}, "123;a b": {}, "99999999999999999999": {},
	} {
		id, cluster, err := parseSubmission(text)
		if id != want[0] || cluster != want[1] || (want[0] == "") != errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%q gives %q, %q, %v", text, id, cluster, err)
		}
	}
}

// The table of states is TorchX's, and no state of Slurm's is Unknown.
func TestStates(t *testing.T) {
	for want, list := range map[tracker.State]string{
		tracker.Pending:   "PENDING CONFIGURING REQUEUED REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT RESIZING SUSPENDED STOPPED",
		tracker.Running:   "RUNNING COMPLETING SIGNALING STAGE_OUT",
		tracker.Succeeded: "COMPLETED",
		tracker.Cancelled: "CANCELLED",
		tracker.Failed:    "BOOT_FAIL DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT",
		tracker.Unknown:   "NEW_IN_2030",
	} {
		for _, s := range strings.Fields(list) {
			if got := stateOf(s); got != want {
				t.Errorf("%s is %s, want %s", s, got, want)
			}
		}
	}
	if firstWord("CANCELLED by 1000") != "CANCELLED" || firstWord("RUNNING+") != "RUNNING" {
		t.Error("what sacct adds to a state stays")
	}
}

func TestComments(t *testing.T) {
	plan := planned(appOf("a"), nil)
	run, launch, ok := ofComment(commentOf(plan, "mine # x"))
	if !ok || run != string(plan.RunID) || launch != plan.Launch {
		t.Errorf("%q, %q, %v", run, launch, ok)
	}
	for _, text := range []string{"", "x", "heirloom:", "heirloom:#a", "heirloom:a"} {
		if _, _, ok := ofComment(text); ok {
			t.Errorf("%q is taken for ours", text)
		}
	}
}

func FuzzParseQueue(f *testing.F) {
	f.Add(queueText)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseQueue(text)
		for _, j := range jobs {
			if !isJobID(j.ID) || !isState(j.State) {
				t.Errorf("%+v of %q, %v", j, text, err)
			}
		}
	})
}

func FuzzParseJobs(f *testing.F) {
	f.Add(showText)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseJobs(text)
		for _, j := range jobs {
			if !isJobID(j.Leader) || !isState(j.State) || j.Code < 0 || j.Restarts < 0 {
				t.Errorf("%+v of %q, %v", j, text, err)
			}
		}
	})
}

func FuzzParseAccount(f *testing.F) {
	f.Add(accountText)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := parseAccount(text)
		for _, j := range jobs {
			if !isJobID(j.ID) || !isState(j.State) || strings.Contains(j.ID, ".") {
				t.Errorf("%+v of %q, %v", j, text, err)
			}
		}
	})
}

func FuzzParseSubmission(f *testing.F) {
	f.Add("123;lab\n")
	f.Fuzz(func(t *testing.T, text string) {
		if id, _, err := parseSubmission(text); err == nil && !isJobID(id) {
			t.Errorf("%q is taken for a job's number in %q", id, text)
		}
	})
}
