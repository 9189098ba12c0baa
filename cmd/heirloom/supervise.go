package main

import (
	"github.com/spf13/cobra"
)

// superviseCommand is what the local scheduler starts for each app that outlives who submitted it.
const superviseCommand = "supervise"

func newSupervise(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    superviseCommand + " DIR",
		Short:  "carry out a plan of the local scheduler, which is on stdin",
		Hidden: true,
		Args:   takes("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.local()
			if err != nil {
				return err
			}
			return s.Supervise(c.Context(), args[0], a.stdin)
		},
	}
}
