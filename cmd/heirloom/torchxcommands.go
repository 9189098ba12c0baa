package main

import (
	"github.com/spf13/cobra"
)

// torchxCommands are commands under the names that TorchX has for them, with its flags where ours are called otherwise.
// They are hidden: the help tells of one name for each.
func torchxCommands(a *app) []*cobra.Command {
	list := []*cobra.Command{newBuiltins(a), newList(a), newLog(a)}
	for _, c := range list {
		c.Hidden = true
	}
	return list
}

// newBuiltins is components, whose NAME is TorchX's --print.
func newBuiltins(a *app) *cobra.Command {
	c := newComponents(a)
	c.Use, c.Example = "builtins [NAME]", "  heirloom builtins --print dist.ddp"
	name := c.Flags().String("print", "", "tell about the component `NAME`")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("print") {
			args = append(args, *name)
		}
		if err := atMostOne("NAME")(c, args); err != nil {
			return err
		}
		return a.runComponents(args)
	}
	return c
}

// newList is jobs.
func newList(a *app) *cobra.Command {
	c := newJobs(a)
	c.Use, c.Example = "list", "  heirloom list -s slurm"
	return c
}

// newLog is logs. Its --tail follows, as in TorchX.
func newLog(a *app) *cobra.Command {
	var f logsFlags
	c := f.command(a)
	c.Use, c.Example = "log RUN[/ROLE[/REPLICA,...]]", "  heirloom log -t slurm://torchx/train-x7f2/trainer/0"
	c.Flags().BoolVarP(&f.follow, "tail", "t", false, "wait for more until the job has ended")
	c.Flags().StringVar(&f.stream, "streams", "", "`NAME` stdout, stderr or combined (default combined)")
	return c
}
