package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/progress"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
)

// globalFlags are the flags that every command understands.
type globalFlags struct {
	store, tracker string
	format         string
	json           bool
	quiet, verbose bool
	noColor, stats bool
	progress       string
}

const rootHelp = `heirloom records what a job used and made, and answers where things came from
and what came of them. Your bucket is the database: there is no server.

The store is named by --store or HEIRLOOM_STORE, else by heirloom.toml found
upward from here, else by your own configuration; else it is ./.heirloom.

Exit codes: 0 ok, 1 other, 2 usage, 3 not found, 4 exists or ambiguous,
5 permission, 6 corrupt, 7 unavailable, 8 a gate matched, 130 interrupted.
"run" and "wait" return the job's own code; 4 when it may not start (--resume),
125 when heirloom itself failed, 126 not executable, 127 not found.`

const rootExample = `  heirloom demo                                     a real pipeline, in seconds
  heirloom run --name train -- python train.py      run a job and record it
  heirloom runs                                     what ran
  heirloom lineage train                            what it came from, what came of it`

// newRoot builds the whole tree of commands; the table below is all there is.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "heirloom",
		Short:         "record runs and artifacts, and ask where they came from",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       readVersion().Version,
		SilenceUsage:  true,
		SilenceErrors: true,

		DisableFlagsInUseLine: true,

		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			interrupt(c)
			return a.flags.check(c)
		},
	}
	root.AddGroup(&cobra.Group{ID: "record", Title: "Record:"}, &cobra.Group{ID: "follow", Title: "Follow jobs:"}, &cobra.Group{ID: "ask", Title: "Ask:"}, &cobra.Group{ID: "move", Title: "Move bytes:"}, &cobra.Group{ID: "else", Title: "Other:"})
	addGroup(root, "record", newDemo(a), newInit(a), newRun(a), newRerun(a), newStart(a), newBeat(a), newFinish(a), newAdd(a))
	addGroup(root, "follow", newJobs(a), newStatus(a), newLogs(a), newWait(a), newCancel(a), newDelete(a), newDescribe(a), newSchedulers(a), newRunopts(a), newComponents(a))
	addGroup(root, "ask", newRuns(a), newShow(a), newLineage(a), newImpact(a), newDiff(a), newOrigin(a), newAlias(a), newSQL(a), newIndex(a), newCatalog(a))
	addGroup(root, "move", newArtifact(a), newCheckpoint(a), newDataset(a), newStore(a))
	addGroup(root, "else", newOpenLineage(a), newDoctor(a), newFsck(a), newRm(a), newConfig(a), newVersion(a))
	root.AddCommand(newDemoStep(a), newSlurmBatch(a), newSlurmTask(a), newRanks(a), newSupervise(a))
	root.AddCommand(torchxCommands(a)...)
	root.SetHelpCommand(newHelp())
	root.SetVersionTemplate("heirloom {{.Version}}\n")
	root.SetHelpCommandGroupID("else")
	root.SetCompletionCommandGroupID("else")
	root.SetFlagErrorFunc(a.flagError)
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	a.flags.register(root)
	adoptCompletion(root)
	sentences(root)
	root.SetUsageTemplate(usageTemplate(root))
	return root
}

func (f *globalFlags) register(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&f.store, "store", "", "the store, a path or `URL` (HEIRLOOM_STORE)")
	flags.StringVar(&f.tracker, "tracker", "", "a bare tracker root, a path or `URL`, such as TorchX's own (HEIRLOOM_TRACKER)")
	flags.StringVarP(&f.format, "format", "o", "", "output `FORMAT`: table, json, jsonl or csv; lineage has more")
	flags.BoolVar(&f.json, "json", false, "the same as --format json; errors are JSON too")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no narration and no warnings on stderr")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on stderr what is asked of the store")
	flags.BoolVar(&f.noColor, "no-color", false, "no colours (NO_COLOR)")
	flags.BoolVar(&f.stats, "stats", false, "print the number of requests on stderr at the end")
	flags.StringVar(&f.progress, "progress", "", "show transfers on stderr as `MODE`: auto, plain, json or none")
	register(root, "format", completeFormats)
	register(root, "progress", fixed(progress.Modes()))
}

// check refuses flags that contradict each other, and an empty --store or --tracker: a shell variable that was not set
// would silently mean another place.
func (f *globalFlags) check(c *cobra.Command) error {
	for _, name := range []string{"store", "tracker"} {
		if given := c.Flag(name); given != nil && given.Changed && given.Value.String() == "" {
			return usagef(c.CommandPath(), "--%s is empty", name)
		}
	}
	if _, err := progress.ParseMode(f.progress); err != nil {
		return usagef(c.CommandPath(), "%v", err)
	}
	switch {
	case f.quiet && f.verbose:
		return usagef(c.CommandPath(), "--quiet and --verbose contradict each other")
	case f.json && f.format != "" && f.format != string(render.JSON):
		return usagef(c.CommandPath(), "--json and --format %s contradict each other", f.format)
	}
	return nil
}

// flagError makes cobra's complaint about a flag a usage error.
func (a *app) flagError(c *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.") // the function that parsed it is of no use to anybody
	if slices.Contains(a.args, "--json") {               // it may stand behind the flag that failed
		a.flags.json = true
	}
	if strings.HasPrefix(text, "unknown flag: --output") && c.Name() != "run" {
		text += " (the format is --format, or -o)"
	}
	return usagef(c.CommandPath(), "%s", text)
}

// unknownCommand refuses words after the root, naming the near commands.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := ""
	if names := c.SuggestionsFor(args[0]); len(names) > 0 {
		near = fmt.Sprintf(" (near: %s)", strings.Join(names, ", "))
	}
	return usagef(c.CommandPath(), "unknown command %q%s", args[0], near)
}

// addGroup adds commands under a head of the help.
func addGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// newHelp is cobra's help command, but for an error where there is nothing to tell.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "tell about a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 && about.HasSubCommands() {
				return unknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// group is a command that only holds others.
func group(c *cobra.Command, children ...*cobra.Command) *cobra.Command {
	c.AddCommand(children...)
	c.DisableFlagsInUseLine = true
	c.SuggestionsMinimumDistance = 2
	c.Args = unknownCommand
	c.RunE = func(c *cobra.Command, _ []string) error {
		var names []string
		for _, child := range c.Commands() {
			names = append(names, child.Name())
		}
		slices.Sort(names)
		return usagef(c.CommandPath(), "say which: %s %s", c.CommandPath(), strings.Join(names, "|"))
	}
	return c
}

// takes checks the number of arguments against the names of those wanted, as in "RUN" or "NAME PATH".
func takes(names string) cobra.PositionalArgs {
	wanted := strings.Fields(names)
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(wanted):
			return usagef(c.CommandPath(), "missing %s", strings.Join(wanted[len(args):], " and "))
		case len(args) > len(wanted):
			return usagef(c.CommandPath(), "unexpected argument %q", args[len(wanted)])
		}
		return nil
	}
}

// atLeastOne wants one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef(c.CommandPath(), "missing %s", name)
		}
		return nil
	}
}

// completeFormats completes the formats that a command has.
func completeFormats(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	offered := documentFormats()
	switch c.Name() {
	case "runs", "jobs", "list", "status", "schedulers", "components", "builtins", "show", "explain", "ls", "du", "verify", "prune", "head", "check", "sql", "set", "history", "rm":
		offered = render.ListFormats
	case "lineage", "origin":
		offered = render.LineageFormats
	case "diff":
		offered = render.DiffFormats
	case "impact":
		offered = render.ImpactFormats
	}
	var names []string
	for _, f := range offered {
		names = append(names, string(f))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
