package catalog

import (
	"slices"

	"github.com/heirloom-ml/heirloom/dataset"
)

// Type is the type of a column.
type Type string

// The types, as Arrow calls them.
const (
	String    Type = "string"
	Int       Type = "int64"
	Real      Type = "double"
	Bool      Type = "bool"
	Timestamp Type = "timestamp[us, tz=UTC]" // microseconds: Spark refuses nanoseconds
)

// Column is one column of a table. Where it may be null, null means not known or not said.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Doc      string
}

// Table is one table of a catalog.
type Table struct {
	Name    string
	Doc     string
	Columns []Column
}

// The tables.
const (
	runsTable     = "runs"
	metadataTable = "metadata"
	artifactTable = "artifacts"
	linksTable    = "links"
	edgesTable    = "edges"
	ancestryTable = "ancestry"
	datasetsTable = "datasets"
	aliasesTable  = "aliases"
	recordsTable  = "records"
)

// Tables describes every table of the format that this program writes, in the order in which people are shown them.
func Tables() []Table {
	return slices.Concat(runTables(), graphTables(), otherTables())
}

func runTables() []Table {
	return []Table{
		{runsTable, "every run, in the order of run_id", []Column{
			{"run_id", String, false, "scheduler://session/name-random"},
			{"name", String, false, "the recorded name, else that in the id"},
			{"state", String, false, "as of the publication: RUNNING, SUCCEEDED, FAILED, CANCELLED, LOST, UNKNOWN, …"},
			{"lost_at", Timestamp, true, "when a run counts as LOST unless it gives another sign of life"},
			{"started", Timestamp, true, "start of the first attempt"},
			{"ended", Timestamp, true, "end of the last attempt"},
			{"duration_seconds", Real, true, "from started to ended"},
			{"attempts", Int, false, "0 where the writer records none, as TorchX"},
			{"exit_code", Int, true, "of the last attempt"},
			{"signal", String, true, "that ended it"},
			{"user", String, true, "who ran it"},
			{"host", String, true, "where it ran"},
			{"project", String, true, "that it belongs to"},
			{"experiment", String, true, "that it belongs to"},
			{"command", String, true, "its words joined by spaces; secrets redacted"},
			{"output_dir", String, true, "where its files lie"},
			{"git_commit", String, true, "of the code"},
			{"git_branch", String, true, "of the code"},
			{"inputs", Int, false, "links to what it used"},
			{"unreadable", Int, false, "records of it that could not be read"},
		}},
		{metadataTable, "every key of a run's metadata with its last value, in the order of run_id and key; null has no row", []Column{
			{"run_id", String, false, "the run"},
			{"key", String, false, "params.lr, metrics.loss, tags.team, heirloom.user, …"},
			{"type", String, false, "string, int, float, bool, list or object"},
			{"text", String, false, "a string itself, of anything else its JSON"},
			{"number", Real, true, "of a number, or a string that reads as one"},
			{"integer", Int, true, "of an int of 64 bits"},
			{"boolean", Bool, true, "of a bool"},
		}},
		{artifactTable, "what runs made, in the order of run_id and name", []Column{
			{"run_id", String, false, "the run that made it"},
			{"name", String, false, "unique in the run"},
			{"path", String, false, "full URL, or what the writer called it"},
			{"key", String, true, "where it lies below the store, whatever became of path"},
			{"kind", String, false, "model, checkpoint, dataset, metrics, log or other"},
			{"sha256", String, true, "of the bytes, in hexadecimal"},
			{"size_bytes", Int, true, "its size"},
		}},
	}
}

func graphTables() []Table {
	return []Table{
		{linksTable, "what runs used, in the order of run_id, source_id and artifact", []Column{
			{"run_id", String, false, "the run that used it"},
			{"source_id", String, false, "a run, or the id of an input: name@version or a URI"},
			{"artifact", String, true, "which artifact of it; null = none named"},
			{"role", String, true, "input, parent or rerun; null = a run whose artifact was used"},
			{"time", Timestamp, true, "when it was recorded; null if TorchX did"},
			{"uri", String, true, "of an input, as are the next three"},
			{"name", String, true, "by which it is known"},
			{"version", String, true, "which state of it"},
			{"digest", String, true, "of its bytes, or the fingerprint of a dataset"},
			{"source_is_run", Bool, false, "the root records the source as a run"},
		}},
		{edgesTable, "the graph: every link, then every input that a run of the root made", []Column{
			{"source_id", String, false, "what the target came from"},
			{"target_id", String, false, "the run that used it, or the input that it made"},
			{"artifact", String, true, "what was used of the source, or what it made; null = none named"},
			{"role", String, true, "that of the link, or made"},
		}},
		{ancestryTable, "the closure of edges, in the order of descendant_id, depth and ancestor_id", []Column{
			{"descendant_id", String, false, "a run, or an input that a run made"},
			{"ancestor_id", String, false, "on a cycle a node is its own ancestor"},
			{"depth", Int, false, "edges on the shortest way, from 1"},
		}},
	}
}

func otherTables() []Table {
	return []Table{
		{datasetsTable, "inputs that are no runs, and the datasets of the store, in the order of source_id", []Column{
			{"source_id", String, false, "as in links"},
			{"kind", String, false, "dataset (known by a name) or external"},
			{"name", String, true, "by which it is known"},
			{"version", String, true, "which state of it"},
			{"digest", String, true, "two rows of one source_id with two digests are two contents"},
			{"uri", String, true, "where it lies, as far as links tell"},
			{"used_by", Int, false, "number of runs"},
			{"first_used", Timestamp, true, "by any run, as far as links tell"},
			{"last_used", Timestamp, true, "likewise"},
			{"fingerprint", String, true, "of a dataset of the store, as is the rest"},
			{"rows", Int, true, "in all splits"},
			{"bytes", Int, true, "of all splits"},
			{"created", Timestamp, true, "when it was staged or adopted"},
			{"made_by", String, true, "the run that staged it"},
			{"path", String, true, "full URL of its training data"},
		}},
		{aliasesTable, "what names such as prod mean, in the order of alias", []Column{
			{"alias", String, false, "the name"},
			{"node_id", String, false, "a run, or RUN#ARTIFACT"},
			{"run_id", String, false, "the run, or the one that has the artifact"},
			{"artifact", String, true, "which artifact of the run; null = the run itself"},
			{"number", Int, false, "how often it was set or removed"},
			{"time", Timestamp, true, "when it was set"},
			{"user", String, true, "who did"},
			{"reason", String, true, "why"},
		}},
		{recordsTable, "heirloom's own: what the index of a new machine is filled from, in the order of run_id", []Column{
			{"run_id", String, false, "the run"},
			{"print", String, false, "digest of the names, sizes and versions of its objects"},
			{"settled", Bool, false, "the print can be trusted"},
			{"body", String, false, "what was read of the run, JSON whose form may change"},
			{"sources", String, false, "what it used, likewise"},
		}},
	}
}

// fields are the columns as package dataset writes them.
func (t Table) fields() []dataset.Field {
	list := make([]dataset.Field, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = dataset.Field{Name: c.Name, Type: string(c.Type), Nullable: c.Nullable}
	}
	return list
}
