package runner

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// The variables of the job; those of TorchX make Python code written for it log
// into the same tracker.
const (
	envStore         = "HEIRLOOM_STORE"
	envRunID         = "HEIRLOOM_RUN_ID"
	envParent        = "HEIRLOOM_PARENT_RUN_ID"
	envOutputDir     = "HEIRLOOM_OUTPUT_DIR"
	envCheckpointDir = "HEIRLOOM_CHECKPOINT_DIR"
	envMetrics       = "HEIRLOOM_METRICS"
	envAttempt       = "HEIRLOOM_ATTEMPT"
	envLaunch        = "HEIRLOOM_LAUNCH"
	envTorchXJob     = "TORCHX_JOB_ID"
	envTorchXParent  = "TORCHX_PARENT_RUN_ID"
	envTrackers      = "TORCHX_TRACKERS"
	envFsspec        = "TORCHX_TRACKER_FSSPEC_CONFIG"
)

// JobVariables are the names of the variables that tell a job of its run.
func JobVariables() []string {
	return []string{
		envStore, envRunID, envParent, envOutputDir, envCheckpointDir, envMetrics, envAttempt, envLaunch,
		envTorchXJob, envTorchXParent, envTrackers, envFsspec, envJoined, envRole, envReplica, envReplicas,
	}
}

const (
	fsspec = "fsspec"
	// ours opens the configuration we write. It tells a job that surrounds us,
	// whose configuration gives way, from a user's, which stays.
	ours = "# written by heirloom for one run"
)

// makeEnviron gives the job's environment: the surroundings, with what the run
// knows set, and what has no value unset.
func (r *run) makeEnviron() ([]string, error) {
	set := map[string]string{
		envStore:         r.Store.URL(),
		envRunID:         string(r.id),
		envParent:        string(r.parent),
		envOutputDir:     r.place.dir,
		envCheckpointDir: r.place.checkpoints,
		envMetrics:       filepath.Join(r.place.dir, metricsFile),
		envAttempt:       strconv.Itoa(r.attempt),
		envLaunch:        r.launch,
		envTorchXJob:     string(r.id),
		envTorchXParent:  string(r.parent),
	}
	if l := r.job.Launch; l != nil {
		set[envMetrics] = filepath.Join(r.place.dir, r.metricsName())
		set[envJoined] = l.key()
		set[envRole], set[envReplica], set[envReplicas] = role, strconv.Itoa(l.Rank), strconv.Itoa(l.Size)
	}
	if err := r.joinFsspec(set); err != nil {
		return nil, err
	}
	environ := slices.DeleteFunc(slices.Clone(r.job.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := set[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] != "" {
			environ = append(environ, name+"="+set[name])
		}
	}
	return environ, nil
}

// joinFsspec adds our tracker to the user's own, unless they have one of that
// name; then theirs stays.
func (r *run) joinFsspec(set map[string]string) error {
	trackers, config := lookup(r.job.Environ, envTrackers), lookup(r.job.Environ, envFsspec)
	listed := slices.Contains(strings.Split(trackers, ","), fsspec)
	if r.job.Fsspec != "" {
		set[envFsspec], set[envTrackers] = r.job.Fsspec, withFsspec(trackers)
		return nil
	}
	if (listed || config != "") && !isOurs(config) {
		r.notices = append(r.notices, fmt.Sprintf(
			"%s is configured for another tracker in the environment (%s), which stays: TorchX calls of the job are not recorded here", fsspec, envFsspec))
		return nil
	}
	settings := r.Tracker.Store().FsspecConfig()
	if r.Store.Scheme() == "mem" || len(settings) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString(ours + "\n")
	for _, s := range settings {
		text.WriteString(s.Key + "=" + s.Value + "\n")
	}
	path := filepath.Join(r.place.scratch, "fsspec.conf")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("write configuration for TorchX: %w", err)
	}
	set[envFsspec], set[envTrackers] = path, withFsspec(trackers)
	return nil
}

// withFsspec is TorchX's list of trackers with fsspec among them.
func withFsspec(trackers string) string {
	switch {
	case trackers == "":
		return fsspec
	case slices.Contains(strings.Split(trackers, ","), fsspec):
		return trackers
	}
	return trackers + "," + fsspec
}

// isOurs says whether a configuration was written for a job around us.
func isOurs(config string) bool {
	f, err := os.Open(config)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	line, _ := bufio.NewReaderSize(f, 256).ReadString('\n')
	return strings.TrimSuffix(line, "\n") == ours
}

// parentOf gives the run that the job is a child of, "" if none: the one named,
// else the one whose job we are part of, else the one the environment names as
// the parent of what is started in it.
func parentOf(job Job) (tracker.RunID, error) {
	if job.Parent != "" {
		return tracker.ParseRunID(string(job.Parent))
	}
	for _, name := range []string{envRunID, envTorchXJob, envParent, envTorchXParent} {
		if text := lookup(job.Environ, name); text != "" {
			id, err := tracker.ParseRunID(text)
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			return id, nil
		}
	}
	return "", nil
}

// lookup gives the value of the last entry of that name, "" if there is none.
func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}
