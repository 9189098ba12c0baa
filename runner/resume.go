package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Resume says what becomes of a job whose run is known already.
type Resume string

// The ways to resume. The empty one is ResumeAllow: the same job started twice
// under one id, as schedulers do that requeue it, is one run with two attempts.
const (
	ResumeAllow Resume = "allow" // begin the run, or a further attempt of it
	ResumeMust  Resume = "must"  // only a further attempt
	ResumeNever Resume = "never" // only a run of which nothing is recorded yet
)

// ErrRefused is the error of a job that Resume, or an attempt that still lives,
// forbids to start. Nothing was recorded then. Its kind is store.ErrConflict.
var ErrRefused = fmt.Errorf("start refused: %w", store.ErrConflict)

// refusal is a sentence that is ErrRefused.
type refusal string

func (r refusal) Error() string { return string(r) }

func (r refusal) Unwrap() error { return ErrRefused }

// claim gives the attempt of a run whose id was given its number, once it was
// looked at. Of several that resume it at once the first gets the number, and the
// others find it running.
func (r *run) claim(ctx context.Context) error {
	for {
		earlier, err := r.Tracker.Attempts(ctx, r.id)
		if tracker.IsDeleted(err) {
			return refusal(fmt.Sprintf("%s was deleted, and can be restored by heirloom rm --undo", r.id))
		}
		if err != nil {
			return err
		}
		if err := r.admit(ctx, earlier); err != nil {
			return err
		}
		n := 1
		if len(earlier) > 0 {
			n = earlier[len(earlier)-1].Number + 1
		}
		err = r.Tracker.ClaimAttempt(ctx, r.id, n, r.attemptStart())
		if errors.Is(err, store.ErrExist) {
			continue
		}
		if err == nil {
			r.setAttempt(n)
			r.earlier = earlier
		}
		return err
	}
}

// admit decides whether there may be a further attempt after the earlier ones.
func (r *run) admit(ctx context.Context, earlier []tracker.Attempt) error {
	known := len(earlier) > 0
	if !known && r.resume() != ResumeAllow { // facts may have come before any attempt
		var err error
		if known, err = r.Tracker.Exists(ctx, r.id); err != nil {
			return err
		}
	}
	switch {
	case known && r.resume() == ResumeNever:
		return refusal(fmt.Sprintf("%s exists already, and a run that exists is never resumed here", r.id))
	case !known && r.resume() == ResumeMust:
		return refusal(fmt.Sprintf("nothing is recorded of %s, so there is nothing to resume", r.id))
	case len(earlier) == 0 || r.job.Force:
		return nil
	}
	last, now := earlier[len(earlier)-1], r.now()
	if last.State(now) != tracker.Running || replaced(last.Start, r.attemptStart()) {
		return nil
	}
	return refusal(fmt.Sprintf("attempt %d of %s is running on %s: its last sign of life is %s old, and it is taken for lost after %s",
		last.Number, r.id, cmp.Or(last.Start.Host, "an unknown host"), now.Sub(last.Seen()).Round(time.Second), tracker.LostAfter))
}

func (r *run) resume() Resume {
	if r.job.Resume == "" {
		return ResumeAllow
	}
	return r.job.Resume
}

// replaced says that an attempt without an end is certain to be over, so that
// nobody needs to wait until it counts as lost: its process is gone from the very
// system we run on, which ends the job with it; or the scheduler itself put us in
// its place.
func replaced(before, now tracker.AttemptStart) bool {
	if before.BootID != "" && before.BootID == now.BootID {
		_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(before.PID)))
		return errors.Is(err, os.ErrNotExist)
	}
	job := lookup(now.Environ, "SLURM_JOB_ID")
	return job != "" && job == lookup(before.Environ, "SLURM_JOB_ID") &&
		lookup(before.Environ, "SLURM_CLUSTER_NAME") == lookup(now.Environ, "SLURM_CLUSTER_NAME") &&
		restarts(before.Environ) < restarts(now.Environ)
}

// restarts is how often Slurm has requeued a job.
func restarts(environ []string) int {
	n, _ := strconv.Atoi(lookup(environ, "SLURM_RESTART_COUNT")) // unset at first
	return n
}

// begunFirst is when the first attempt of the run began.
func (r *run) begunFirst() time.Time {
	if len(r.earlier) > 0 && !r.earlier[0].Start.Time.IsZero() {
		return r.earlier[0].Start.Time
	}
	return r.begun
}
