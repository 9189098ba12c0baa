package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	// envJoin says to which launch a process belongs, where the variables of what
	// started it do not: any text that all of them share and no other has; "off" =
	// to none.
	envJoin = "HEIRLOOM_JOIN"
	// envJoined tells what a joined job starts that this launch is its own.
	envJoined = "HEIRLOOM_JOINED"
)

// Launch says that this process is one of several that were started together and
// are one run: the tasks of an srun, the workers of torchrun, the ranks of mpirun.
type Launch struct {
	ID   string // of the launch, the same over restarts by the scheduler
	Name string // short, for the id of the run: "slurm-123.0"
	// Incarnation changes when the scheduler starts the launch again: that is a
	// further attempt.
	Incarnation string
	// Instance tells launches apart that share ID and Incarnation, as two mpiruns of
	// one batch script; "" = there are no such.
	Instance string
	Rank     int // from 0
	Size     int // 2 or more
}

// key is what envJoined holds.
func (l *Launch) key() string { return strings.Join([]string{l.ID, l.Incarnation, l.Instance}, "#") }

// runID is the id that all processes of the launch agree on without talking. Of the
// calls that one process makes, one after the other, each is a run of its own.
func (l *Launch) runID(session, name string, call int) (tracker.RunID, error) {
	if call > 1 {
		name += "-" + strconv.Itoa(call)
	}
	made, err := tracker.NewRunID("local", session, name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(l.ID))
	base := string(made)[:strings.LastIndexByte(string(made), '-')]
	return tracker.ParseRunID(base + "-" + hex.EncodeToString(sum[:5]))
}

// DetectLaunch finds out by the environment whether this process is one of several
// that are one launch; nil = it is alone, or it is within a process that has joined
// that launch already. Looked at are HEIRLOOM_JOIN, and the variables of torchrun,
// Open MPI, PMI (MPICH, Intel MPI) and Slurm, in this order: the innermost that
// started us counts. The error has kind store.ErrInvalid.
func DetectLaunch(environ []string) (*Launch, error) {
	join := lookup(environ, envJoin)
	if join == "off" {
		return nil, nil
	}
	l, err := detectLaunch(environ)
	if err != nil {
		return nil, fmt.Errorf("detect launch: %w: %w", err, store.ErrInvalid)
	}
	if join != "" {
		if l == nil {
			return nil, fmt.Errorf("detect launch: %s is set, but no variable says which rank this is and of how many (RANK and WORLD_SIZE do): %w", envJoin, store.ErrInvalid)
		}
		l.ID, l.Name, l.Instance = "join:"+join, "join", ""
	}
	switch {
	case l == nil || l.Size < 2:
		return nil, nil
	case l.ID == "":
		return nil, fmt.Errorf("detect launch: this is rank %d of %d, but nothing says of which launch: set %s to a text that all of them share and no other launch has, or to off: %w",
			l.Rank, l.Size, envJoin, store.ErrInvalid)
	case lookup(environ, envJoined) == l.key():
		return nil, nil
	}
	return l, nil
}

func detectLaunch(environ []string) (*Launch, error) {
	for _, detect := range []func([]string) (*Launch, error){torchrunLaunch, openMPILaunch, pmiLaunch, slurmLaunch, rankLaunch} {
		if l, err := detect(environ); l != nil || err != nil {
			return l, err
		}
	}
	return nil, nil
}

// ranked reads rank and size; nil = they are not set.
func ranked(environ []string, rank, size string) (*Launch, error) {
	r, s := lookup(environ, rank), lookup(environ, size)
	if r == "" || s == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(r)
	of, err2 := strconv.Atoi(s)
	if err != nil || err2 != nil || n < 0 || n >= of {
		return nil, fmt.Errorf("%s=%s and %s=%s are no rank and size", rank, r, size, s)
	}
	return &Launch{Rank: n, Size: of}, nil
}

// torchrunLaunch is of a worker of torchrun. Its id of the rendezvous is "none"
// unless one was given; then the agent that started all of us tells us apart, if
// there is but one.
func torchrunLaunch(environ []string) (*Launch, error) {
	id := lookup(environ, "TORCHELASTIC_RUN_ID")
	if id == "" {
		return nil, nil
	}
	l, err := ranked(environ, "RANK", "WORLD_SIZE")
	if l == nil {
		return nil, err
	}
	l.Name = "torchrun"
	l.Incarnation = cmp.Or(lookup(environ, "TORCHELASTIC_RESTART_COUNT"), "0")
	slurm := slurmJob(environ)
	switch {
	case id != "none":
		l.ID = "torchrun:" + id
		if slurm != "" {
			l.ID += ":" + slurm
		}
	case slurm != "":
		l.ID = "torchrun:" + slurm + "." + lookup(environ, "SLURM_STEP_ID")
		l.Instance = localStarter(environ, "LOCAL_WORLD_SIZE", l.Size)
	default:
		l.ID = prefixed("torchrun:", localStarter(environ, "LOCAL_WORLD_SIZE", l.Size))
	}
	if slurm != "" {
		l.Incarnation = slurmRestarts(environ) + "." + l.Incarnation
	}
	return l, nil
}

// openMPILaunch is of a rank of Open MPI's mpirun.
func openMPILaunch(environ []string) (*Launch, error) {
	l, err := ranked(environ, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
	if l == nil {
		return nil, err
	}
	space := cmp.Or(lookup(environ, "PMIX_NAMESPACE"), lookup(environ, "OMPI_MCA_ess_base_jobid"))
	if uri := lookup(environ, "OMPI_MCA_orte_hnp_uri"); uri != "" && space != "" {
		space += " " + uri
	}
	l.within(environ, "mpirun", space)
	return l, nil
}

// pmiLaunch is of a rank that MPICH's or Intel's mpirun started. Under srun the
// same variables are Slurm's.
func pmiLaunch(environ []string) (*Launch, error) {
	l, err := ranked(environ, "PMI_RANK", "PMI_SIZE")
	if l == nil || lookup(environ, "SLURM_PROCID") == strconv.Itoa(l.Rank) && lookup(environ, "SLURM_STEP_NUM_TASKS") == strconv.Itoa(l.Size) {
		return nil, err
	}
	l.within(environ, "mpirun", localStarter(environ, "MPI_LOCALNRANKS", l.Size))
	return l, nil
}

// within names a launch by a starter that the scheduler's job may have several of.
func (l *Launch) within(environ []string, name, instance string) {
	l.Name, l.Incarnation = name, "0"
	if slurm := slurmJob(environ); slurm != "" {
		l.Name, l.ID, l.Instance, l.Incarnation = "slurm-"+lookup(environ, "SLURM_JOB_ID"), name+":"+slurm, instance, slurmRestarts(environ)
		return
	}
	l.ID = prefixed(name+":", instance)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// slurmLaunch is of a task of an srun; a batch script itself is in no such step.
func slurmLaunch(environ []string) (*Launch, error) {
	step := lookup(environ, "SLURM_STEP_ID")
	if slurmJob(environ) == "" || step == "" {
		return nil, nil
	}
	l, err := ranked(environ, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
	if l == nil {
		return nil, err
	}
	l.Name = "slurm-" + lookup(environ, "SLURM_JOB_ID") + "." + step
	l.ID = "srun:" + slurmJob(environ) + "." + step
	l.Incarnation = slurmRestarts(environ)
	return l, nil
}

// rankLaunch is of a process that something else gave a rank: which launch it is
// only the user knows. It counts with envJoin alone.
func rankLaunch(environ []string) (*Launch, error) {
	if lookup(environ, envJoin) == "" {
		return nil, nil
	}
	l, err := ranked(environ, "RANK", "WORLD_SIZE")
	if l == nil && err == nil {
		l, err = ranked(environ, "SLURM_PROCID", "SLURM_NTASKS")
	}
	return l, err
}

// slurmJob names the job in all of Slurm, "" outside of one. A task of an array has
// a number of its own.
func slurmJob(environ []string) string {
	id := lookup(environ, "SLURM_JOB_ID")
	if id == "" {
		return ""
	}
	return lookup(environ, "SLURM_CLUSTER_NAME") + "/" + id
}

func slurmRestarts(environ []string) string {
	return cmp.Or(lookup(environ, "SLURM_RESTART_COUNT"), "0")
}

// localStarter names the process that started us, where the number of ranks here
// says that it started all of them.
func localStarter(environ []string, local string, size int) string {
	boot := bootID()
	if lookup(environ, local) != strconv.Itoa(size) || boot == "" {
		return ""
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(os.Getppid()), "stat"))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const startTime = 19 // of the fields behind the name
	if len(fields) <= startTime {
		return ""
	}
	return fmt.Sprintf("%s %s %d %s", hostname(), boot, os.Getppid(), fields[startTime])
}
