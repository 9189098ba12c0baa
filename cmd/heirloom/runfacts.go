package main

import (
	"time"

	"github.com/spf13/cobra"
)

// registerFacts adds the flags that run and rerun have alike: how a job is recorded, what it uses and makes. again is of
// rerun, where the earlier run says what the line does not.
func (f *runFlags) registerFacts(c *cobra.Command, a *app, again bool) {
	say := func(first, later string) string {
		if again {
			return later
		}
		return first
	}
	const old = " (default: that of the old)"
	flags := c.Flags()
	flags.StringVarP(&f.name, "name", "n", "", say("`NAME` of the run, also in its id (default: the command's)", "`NAME` of the new run"+old))
	flags.StringVar(&f.project, "project", "", "`NAME` of the project it belongs to"+say(" (HEIRLOOM_PROJECT)", old))
	flags.StringVar(&f.experiment, "experiment", "", "`NAME` of the experiment it belongs to"+say(" (HEIRLOOM_EXPERIMENT)", old))
	flags.StringArrayVar(&f.sources, "source", nil, "`RUN[#ARTIFACT]` that it uses"+say("", " besides")+"; may be repeated")
	flags.StringArrayVar(&f.inputs, "input", nil, "`NODE` that it uses"+say(": name@version, URI or path", " besides")+"; may be repeated")
	flags.StringArrayVar(&f.outputs, "output", nil, "`PATH` that it writes, registered where it lies; may be repeated"+say("", " (default: those of the old)"))
	flags.StringVar(&f.params, "params", "", "JSON or TOML `FILE` of parameters"+say("", " that replace recorded ones"))
	flags.StringArrayVar(&f.pairs, "param", nil, "`K=V` or K:=JSON, "+say("a parameter", "in place of the recorded one")+"; may be repeated")
	flags.StringVar(&f.hash, "hash", "", "what to record of outputs, `MODE` sha256, size or none (HEIRLOOM_HASH; default sha256)")
	ageFlag(flags, &f.grace, "grace", "`TIME` from SIGTERM to SIGKILL, and to the end of storing outputs (HEIRLOOM_GRACE; default 30s)")
	f.syncEvery = 30 * time.Second
	ageFlag(flags, &f.syncEvery, "sync-interval", "`TIME` between looks for outputs to store while the command runs; 0 = only at its end")
	register(c, "source", a.completeRun)
	register(c, "hash", fixed(hashModes()))
	for _, flag := range []string{"params", "input", "output"} {
		register(c, flag, files)
	}
}
