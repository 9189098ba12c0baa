package main

import (
	"github.com/spf13/cobra"
)

const openlineageHelp = `Exchange lineage with other tools by OpenLineage 2-0-2.

emit tells a server or a file of recorded runs; ingest records what Spark, dbt,
Airflow and other tools told. A dataset of theirs is an input here, by its URI or
its name, so that lineage goes on from their runs to heirloom's and back.`

func newOpenLineage(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use: "openlineage", Short: "exchange lineage with other tools", Long: openlineageHelp,
		Example: `  heirloom openlineage emit train-x7f2 --url http://marquez:5000
  heirloom openlineage ingest spark-events.jsonl`,
	}, newOpenLineageEmit(a), newOpenLineageIngest(a))
}
