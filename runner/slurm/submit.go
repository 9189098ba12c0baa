package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Submit writes the job directory, the intent last, and calls sbatch. Where an
// earlier call of the same plan was cut short, or its answer lost, the job is
// looked up by its name and comment before, and no second one is made.
func (s *Scheduler) Submit(ctx context.Context, plan *runner.Plan) (runner.Submission, error) {
	request, err := requestOf(plan)
	if err != nil {
		return runner.Submission{}, err
	}
	if !filepath.IsAbs(request.Dir) {
		return runner.Submission{}, invalid("the request's job directory %q is not absolute", request.Dir)
	}
	d := jobDir(request.Dir)
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return runner.Submission{}, fmt.Errorf("make job directory: %w", diskError(err))
	}
	unlock, err := lockFile(d.file("lock"))
	if err != nil {
		return runner.Submission{}, fmt.Errorf("lock job directory: %w", diskError(err))
	}
	defer unlock()
	sub, err := readJSON[submitted](d.file("submitted.json"))
	switch {
	case err == nil && sub.JobID != "":
		return submissionOf(sub, d), nil
	case err == nil:
		return s.resume(ctx, plan, request, sub)
	case !errors.Is(err, fs.ErrNotExist):
		return runner.Submission{}, err
	}
	if sub, err = s.intend(plan, request); err != nil {
		s.forget(plan.Handle, d)
		return runner.Submission{}, fmt.Errorf("write job directory: %w", diskError(err))
	}
	return s.send(ctx, plan, request, sub)
}

// intend writes all that the job and those who ask for it need.
func (s *Scheduler) intend(plan *runner.Plan, request Request) (submitted, error) {
	d := jobDir(request.Dir)
	host, _ := os.Hostname()
	sub := submitted{
		Handle: plan.Handle, Launch: plan.Launch, Intent: s.opts.Now().UTC(), Host: host, User: runner.UserName(s.opts.Environ),
	}
	body, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return sub, err
	}
	if err := s.install(plan, d); err != nil {
		return sub, err
	}
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
	}{{"plan.json", string(body), 0o600}, {"batch.sh", request.Script, 0o600}, {"script", request.Body, 0o700}} {
		if f.text == "" {
			continue
		}
		if err := writeDurable(d.file(f.name), []byte(f.text), f.mode); err != nil {
			return sub, err
		}
	}
	if err := writeJSON(s.entryFile(plan.Handle), entry{Handle: plan.Handle, Dir: request.Dir, Launch: plan.Launch}); err != nil {
		return sub, err
	}
	return sub, writeJSON(d.file("submitted.json"), sub)
}

// entryFile remembers where the job directory of an app is.
func (s *Scheduler) entryFile(h runner.Handle) string {
	return filepath.Join(s.opts.StateDir, store.EncodeRun(h.App), "app.json")
}

// resume goes on with a submission of which only the intent is known.
func (s *Scheduler) resume(ctx context.Context, plan *runner.Plan, request Request, sub submitted) (runner.Submission, error) {
	found, err := s.find(ctx, plan)
	if err != nil {
		return runner.Submission{}, fmt.Errorf("look for a job that was submitted before: %w", err)
	}
	d := jobDir(request.Dir)
	if found == "" {
		began, err := d.attempts()
		if err != nil {
			return runner.Submission{}, err
		}
		if len(began) > 0 {
			found = began[0].JobID
		}
	}
	if found == "" {
		return s.send(ctx, plan, request, sub)
	}
	return s.note(sub, found, "", d)
}

// send calls sbatch.
func (s *Scheduler) send(ctx context.Context, plan *runner.Plan, request Request, sub submitted) (runner.Submission, error) {
	d := jobDir(request.Dir)
	args := append(append([]string{}, request.Args...), d.file("batch.sh"))
	out, err := s.slurm.call(ctx, s.opts.Environ, "sbatch", args...)
	id, cluster := "", ""
	if err == nil {
		id, cluster, err = parseSubmission(out)
	}
	if err == nil {
		return s.note(sub, id, cluster, d)
	}
	if unclear(err) { // it may have been taken all the same
		if id, findErr := s.find(context.WithoutCancel(ctx), plan); findErr == nil && id != "" {
			return s.note(sub, id, "", d)
		}
		return runner.Submission{}, fmt.Errorf("%w; whether the job was taken is not known: to submit the same plan again makes no second one", err)
	}
	s.forget(plan.Handle, d)
	return runner.Submission{}, err
}

// unclear says whether a job may have been taken although there is an error.
func unclear(err error) bool {
	var refused *refusedError
	absent := errors.Is(err, runner.ErrNotFound) || errors.Is(err, runner.ErrNotExecutable)
	return !absent && (!errors.As(err, &refused) || errors.Is(refused.kind, store.ErrUnavailable))
}

func (s *Scheduler) note(sub submitted, id, cluster string, d jobDir) (runner.Submission, error) {
	sub.JobID, sub.Cluster, sub.Time = id, cluster, s.opts.Now().UTC()
	if err := writeJSON(d.file("submitted.json"), sub); err != nil {
		return runner.Submission{}, fmt.Errorf("note job %s: %w", id, diskError(err))
	}
	return submissionOf(sub, d), nil
}

func submissionOf(sub submitted, d jobDir) runner.Submission {
	metadata := map[string]string{"job_id": sub.JobID, "job_dir": string(d)}
	if sub.Cluster != "" {
		metadata["cluster"] = sub.Cluster
	}
	return runner.Submission{JobID: sub.JobID, Metadata: metadata}
}

// parseSubmission reads what sbatch --parsable printed: the job's number, and on
// several clusters the name of its own. What a site's wrapper printed before is
// passed over. The error has kind store.ErrCorrupt.
func parseSubmission(text string) (id, cluster string, err error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	id, cluster, _ = strings.Cut(last, ";")
	if number, rest := leading(id); number == "" || rest != "" || len(number) > 18 || strings.ContainsAny(cluster, " \t") {
		return "", "", garbage("sbatch", text)
	}
	return id, cluster, nil
}

// find looks up the job of a plan by its name and comment; "" if Slurm knows none.
func (s *Scheduler) find(ctx context.Context, plan *runner.Plan) (string, error) {
	var args []string
	if script, _ := plan.Options["script"].(string); script == "" && !strings.Contains(plan.Handle.App, ",") { // else its name may be another
		args = append(args, "--name="+plan.Handle.App)
	}
	jobs, err := s.slurm.queue(ctx, args...)
	if err != nil {
		return "", err
	}
	for _, j := range jobs {
		if run, launch, ok := ofComment(j.Comment); ok && run == string(plan.RunID) && launch == plan.Launch {
			return j.Leader, nil
		}
	}
	return "", nil
}

// forget removes what a submission that came to nothing left.
func (s *Scheduler) forget(h runner.Handle, d jobDir) {
	_ = os.RemoveAll(string(d))
	_ = os.Remove(filepath.Dir(string(d))) // unless it holds another launch
	if e, err := readJSON[entry](s.entryFile(h)); err == nil && e.Dir == string(d) {
		_ = os.Remove(s.entryFile(h))
		_ = os.Remove(filepath.Dir(s.entryFile(h)))
	}
}
