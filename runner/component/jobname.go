package component

import (
	"path"
	"strings"
)

// defaultExperiment is TorchX's, of jobs that name none.
const defaultExperiment = "default-experiment"

// jobName is what --name of dist.* says.
type jobName struct{ experiment, run string }

// parseJobName reads EXPERIMENT/RUN, EXPERIMENT/, /RUN or RUN; what is not said comes
// from the program. It follows TorchX components/structured_arg.py.
func parseJobName(text, program string) jobName {
	experiment, run, found := strings.Cut(text, "/")
	if !found {
		experiment, run = "", text
	}
	if run == "" {
		run = program
	}
	if experiment == "" {
		experiment = defaultExperiment
	}
	return jobName{experiment: experiment, run: run}
}

// programName is the script without directory and extension, or the last part of the
// module.
func programName(script, module string) string {
	if script == "" {
		return module[strings.LastIndexByte(module, '.')+1:]
	}
	base := path.Base(script)
	if ext := path.Ext(base); ext != base && ext != "." {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}
