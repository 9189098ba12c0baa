package main

import (
	"github.com/spf13/cobra"
)

const indexHelp = `What commands answer from when they are asked about many runs: a file in your cache,
one for each tracker, that holds what the runs record. It is never the truth, and may be
deleted at any time; it is made when it is first needed.

A command looks for changes when the index is older than half a minute, or when you
have written since. That costs few requests: heirloom's writers leave a note of each run
that begins, changes or ends. Where others write, such as TorchX, the whole root is
listed. --fresh always does that, --no-refresh asks nobody.`

func newIndex(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use: "index", Short: "what answers about many runs come from", Long: indexHelp,
		Example: `  heirloom index status
  heirloom index refresh
  heirloom index rm`,
	}, newIndexRefresh(a), newIndexStatus(a), newIndexRm(a))
}
