package slurm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// jobOptions are the options of a job. Those of TorchX have its names.
type jobOptions struct {
	Account    string `opt:"account" help:"account that is charged"`
	Partition  string `opt:"partition,p" help:"partition to run in; none = the cluster's default"`
	Time       string `opt:"time,t" help:"limit of the run time, in Slurm's forms: minutes, hours:minutes:seconds, days-hours"`
	Comment    string `opt:"comment" help:"text kept with the job, after the run's id"`
	Constraint string `opt:"constraint" help:"features that the nodes must have"`
	MailUser   string `opt:"mail-user" help:"who gets mail about the job"`
	MailType   string `opt:"mail-type" help:"what mail is sent about: BEGIN, END, FAIL, ALL"`
	JobDir     string `opt:"job_dir" help:"directory, shared by all nodes, in which that of the job is made; none = below the state directory"`
	QOS        string `opt:"qos" help:"quality of service"`

	Exclude       string   `opt:"exclude" help:"nodes not to run on, as n[1-3]"`
	Nodelist      string   `opt:"nodelist" help:"nodes that the job must have"`
	NtasksPerNode int      `opt:"ntasks_per_node" default:"1" help:"replicas on each node"`
	Array         string   `opt:"array" help:"job array, as 0-15%4; each task is a run of its own"`
	NoMem         bool     `opt:"nomem" default:"false" help:"do not ask for memory, where the cluster does not manage it"`
	Setup         []string `opt:"setup" help:"shell lines before the replicas start, as module load cuda"`
	Script        string   `opt:"script" help:"batch script of your own, whose #SBATCH lines hold and which runs unchanged in place of the roles"`
	SbatchArgs    []string `opt:"sbatch_args" help:"further arguments of sbatch; they win"`
	Program       string   `opt:"program" help:"heirloom on the nodes; none = a verified copy in the job's directory"`
}

// groupOptions are the options that a role may have for itself.
func groupOptions() []string {
	return []string{"partition", "time", "constraint", "qos", "exclude", "nodelist", "ntasks_per_node", "nomem"}
}

func (s *Scheduler) decode(cfg runner.Config) (jobOptions, error) {
	var o jobOptions
	if err := s.options.Decode(cfg, &o); err != nil {
		return o, err
	}
	if o.NtasksPerNode < 1 {
		return o, invalid("run option ntasks_per_node is %d, less than 1", o.NtasksPerNode)
	}
	return o, checkWords(o)
}

// checkWords refuses what would end a line of the script, where Slurm would not see
// the rest of it.
func checkWords(o jobOptions) error {
	for _, text := range append([]string{
		o.Account, o.Partition, o.Time, o.Comment, o.Constraint, o.MailUser, o.MailType, o.JobDir, o.QOS, o.Exclude, o.Nodelist, o.Array, o.Program,
	}, o.SbatchArgs...) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return invalid("the run option %q holds a line break", text)
		}
	}
	return nil
}

// metadataStart begins the keys of a role's metadata that are run options of its own.
const metadataStart = "slurm."

// group gives the options for one role: those of the job, with its own, which its
// metadata hold as slurm.partition and the like, in their place.
func (s *Scheduler) group(cfg runner.Config, role *runner.Role) (jobOptions, error) {
	own := runner.Config{}
	for key, value := range role.Metadata.All() {
		name, ours := strings.CutPrefix(key, metadataStart)
		if !ours {
			continue
		}
		option, ok := s.options.Get(name)
		if !ok || !slices.Contains(groupOptions(), option.Name) {
			return jobOptions{}, invalid("the metadata of role %s have %s; a role's own may be only %s", role.Name, key, strings.Join(groupOptions(), ", "))
		}
		own[option.Name] = fmt.Sprint(value)
	}
	return s.decode(cfg.Merge(own))
}

func invalid(format string, args ...any) error {
	return &store.Error{Op: "plan Slurm job", Kind: store.ErrInvalid, Err: fmt.Errorf(format, args...)}
}
