// Package slurm runs apps on a Slurm cluster, through sbatch, squeue, scontrol,
// scancel and, where accounting is on, sacct, in the text that all versions since
// 20.11 print.
//
// An app has a job directory that all nodes share. Submitting writes the plan, the
// batch script and the intent into it before sbatch is asked, and the run's id goes
// with the job, so that one whose submission was cut short is found again. The batch
// script ends in the node's side ([RunBatch]): it records an attempt of the run,
// starts one task for each replica ([RunTask]) and writes how each ended into the
// job directory. That, and not what Slurm still remembers, is what Status tells; a
// job requeued by Slurm is a further attempt of the same run.
package slurm
