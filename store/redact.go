package store

import (
	"slices"
	"strings"
)

// RedactedMark stands where a secret was.
const RedactedMark = "[redacted]"

// HasRedaction says whether something was taken out of s.
func HasRedaction(s string) bool { return strings.Contains(s, RedactedMark) }

// Redact takes secrets out of any text: command lines, messages, configuration, logs. It knows them by the names they are
// assigned to (password=…, --token …, "api_key": …), by their shape (AWS, GitHub, JWT, private
// keys and others), and by their place in a URL or a header. It may take too much, runs in
// time proportional to the text, and changes nothing the second time.
func Redact(text string) string {
	for range redactRounds {
		next := redactOnce(text)
		if next == text {
			break
		}
		text = next
	}
	return text
}

// redactRounds bounds how often a text is gone through again because something was taken out of it: what was quoted before
// may stand open then, and a second secret behind the same name. Two rounds are the rule.
const redactRounds = 8

func redactOnce(text string) string {
	for _, pass := range []func(string) string{redactKeys, redactEncoded, redactElements, redactUserinfo, redactHeaders, redactAssigned, redactFlags, redactShapes} {
		text = pass(text)
	}
	return text
}

// RedactURL takes out of a URL the user name and password, the signature, and parameters with secret names.
func RedactURL(u string) string { return Redact(u) }

// recordedEnviron are the variables that say under which conditions a job ran. A name ending in * stands for all that
// begin so.
func recordedEnviron() []string {
	return []string{
		"CUDA_*", "NVIDIA_VISIBLE_DEVICES", "NCCL_*", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "XLA_FLAGS", "TPU_*",
		"OMP_*", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED", "PYTORCH_CUDA_ALLOC_CONF", "TF_*",
		"RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID",
		"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS",
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT",
		"SLURM_CPUS_PER_TASK", "SLURM_GPUS", "SLURM_CLUSTER_NAME", "KUBERNETES_NAMESPACE", "JOB_COMPLETION_INDEX",
		"CONDA_DEFAULT_ENV", "VIRTUAL_ENV", "LANG", "LC_ALL", "TZ",
	}
}

// RedactEnv picks from environ ("NAME=value") what may be recorded: a short list of variables that tell about hardware, ranks and
// schedulers, and those in allow, where a name ending in * stands for all that begin so. Values with secrets are
// redacted even then. The result is sorted; entries without "=" are dropped.
func RedactEnv(environ []string, allow ...string) []string {
	patterns := append(recordedEnviron(), allow...)
	var kept []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if ok && slices.ContainsFunc(patterns, func(p string) bool { return matchesName(p, name) }) {
			kept = append(kept, redactArg(entry))
		}
	}
	slices.Sort(kept)
	return kept
}

func matchesName(pattern, name string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return pattern == name
}
