package servers

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const slurmFix = "apt-get install --no-install-recommends slurm-wlm munge slurm-wlm-basic-plugins"

// SlurmOptions differ from one cluster to the next; nil, or a zero field, is the default.
type SlurmOptions struct {
	Nodes     int           // 0 = 4
	CPUs      int           // of each node, as claimed; 0 = 16
	MinJobAge time.Duration // after which ended jobs are forgotten; 0 = 5 minutes, Slurm's own
	KillWait  time.Duration // from SIGTERM to SIGKILL; 0 = 10 s
	Conf      []string      // further lines of slurm.conf
}

// Slurm is a cluster of several nodes on this machine, all on the loopback
// address, with its own munge key, state and ports; several live side by side.
type Slurm struct {
	ClusterName string
	Nodes       []string // n1, n2, …
	Environ     []string // what sbatch, squeue, … need, as "NAME=value"

	t       testing.TB
	dir     string
	conf    string
	daemons map[string]func() // by node: ends its slurmd
}

// StartSlurm starts a cluster until the test ends and waits until its nodes are
// idle. Jobs that still run then are killed.
func StartSlurm(t testing.TB, o *SlurmOptions) *Slurm {
	t.Helper()
	for _, tool := range []string{"sbatch", "squeue", "scontrol", "scancel", "sinfo", "slurmctld", "slurmd", "munged"} {
		if _, err := slurmTool(tool); err != nil {
			Missing(t, err, slurmFix, "slurm")
		}
	}
	s := newSlurm(t, o)
	s.configure(o)
	s.serve("munged", nil, "--foreground", "--force", "--key-file="+s.file("munge/key"), "--socket="+s.file("munge/socket"),
		"--pid-file="+s.file("munge/pid"), "--seed-file="+s.file("munge/seed"), "--log-file="+s.file("munge/log"), "--num-threads=2")
	s.await("munged's socket", func() bool { _, err := os.Stat(s.file("munge/socket")); return err == nil })
	s.serve("slurmctld", nil, "-D", "-c", "-f", s.conf)
	for _, node := range s.Nodes {
		s.StartNode(node)
	}
	s.await("idle nodes", s.idle)
	return s
}

// newSlurm lays out the directory of a cluster. Its path is short, for munge's
// socket, and open to the users whose jobs run there.
func newSlurm(t testing.TB, o *SlurmOptions) *Slurm {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Slurm{
		ClusterName: strings.ToLower(strings.ReplaceAll(filepath.Base(dir), "-", "")),
		t:           t, dir: dir, conf: filepath.Join(dir, "slurm.conf"), daemons: map[string]func(){},
	}
	s.Environ = []string{"SLURM_CONF=" + s.conf}
	t.Cleanup(func() { s.clear(); os.RemoveAll(dir) })
	nodes := 4
	if o != nil && o.Nodes > 0 {
		nodes = o.Nodes
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, fmt.Sprintf("n%d", i+1))
	}
	for _, sub := range []string{"", "munge", "state", "log"} {
		if err := os.MkdirAll(s.file(sub), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(s.file(sub), 0o755); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.file("munge/key"), []byte(rand.Text()+rand.Text()), 0o400); err != nil {
		t.Fatal(err)
	}
	return s
}

// configure writes slurm.conf: no cgroups, quick scheduling, and a requeued job
// held for five seconds (cred_expire) instead of two minutes.
func (s *Slurm) configure(o *SlurmOptions) {
	s.t.Helper()
	if o == nil {
		o = &SlurmOptions{}
	}
	or := func(d, otherwise time.Duration) int {
		if d == 0 {
			d = otherwise
		}
		return int(d.Seconds())
	}
	host, err := os.Hostname()
	if err != nil {
		s.t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		s.t.Fatal(err)
	}
	cpus := o.CPUs
	if cpus == 0 {
		cpus = 16
	}
	var text strings.Builder
	fmt.Fprintf(&text, slurmConf, s.ClusterName, host, freePort(s.t), me.Username, s.dir, or(o.MinJobAge, 5*time.Minute), or(o.KillWait, 10*time.Second))
	for _, line := range o.Conf {
		fmt.Fprintln(&text, line)
	}
	for _, node := range s.Nodes {
		fmt.Fprintf(&text, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=4000 State=UNKNOWN\n", node, host, freePort(s.t), cpus)
		if err := os.MkdirAll(s.file("spool/"+node), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	fmt.Fprintf(&text, "PartitionName=main Nodes=%s Default=YES MaxTime=INFINITE State=UP\n", strings.Join(s.Nodes, ","))
	if err := os.WriteFile(s.conf, []byte(text.String()), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

const slurmConf = `ClusterName=%[1]s
SlurmctldHost=%[2]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmUser=%[4]s
SlurmdUser=%[4]s
AuthType=auth/munge
AuthInfo=socket=%[5]s/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=%[5]s/state
SlurmdSpoolDir=%[5]s/spool/%%n
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd-%%n.pid
SlurmctldLogFile=%[5]s/log/slurmctld
SlurmdLogFile=%[5]s/log/%%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,bf_max_time=1,sched_min_interval=100000,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=%[6]d
KillWait=%[7]d
SlurmctldTimeout=30
SlurmdTimeout=60
InactiveLimit=0
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
`

func (s *Slurm) file(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// serve runs a daemon of the cluster until the test ends.
func (s *Slurm) serve(name string, environ []string, args ...string) (stop func()) {
	s.t.Helper()
	path, err := slurmTool(name)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(s.environ(), environ...)
	cmd.SysProcAttr = dieWithParent()
	p := &process{name: name, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	end, err := p.run(cmd)
	if err != nil {
		s.t.Fatalf("start %s: %v", name, err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			end()
		}
	}
	s.t.Cleanup(stop)
	return stop
}

// environ is ours with the cluster in place of any other.
func (s *Slurm) environ() []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "SLURM_") })
	return append(kept, s.Environ...)
}

// await polls until done says so.
func (s *Slurm) await(what string, done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(startTimeout); !done(); time.Sleep(5 * pollInterval) {
		if time.Now().After(deadline) {
			s.t.Fatalf("start Slurm: no %s after %v\n%s", what, startTimeout, s.tails())
		}
	}
}

func (s *Slurm) idle() bool {
	out, err := s.try("sinfo", "-h", "-N", "-t", "idle", "-o", "%N")
	return err == nil && len(strings.Fields(out)) == len(s.Nodes)
}

// tails is the end of the daemons' logs.
func (s *Slurm) tails() string {
	var text strings.Builder
	logs, _ := filepath.Glob(s.file("log/*"))
	for _, log := range append(logs, s.file("munge/log")) {
		body, _ := os.ReadFile(log)
		fmt.Fprintf(&text, "--- %s\n%s\n", filepath.Base(log), body[max(0, len(body)-2000):])
	}
	return text.String()
}

// slurmTool finds a program, also where only root's PATH leads.
func slurmTool(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if beside := filepath.Join("/usr/sbin", name); isProgram(beside) {
		return beside, nil
	}
	return "", err
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
