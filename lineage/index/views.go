package index

import (
	"fmt"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// View is a table that Select knows.
type View struct {
	Name, Meaning string
	Columns       []ViewColumn
	body          string // SELECT of the columns in order; "" = not a view
}

// ViewColumn is one of its columns.
type ViewColumn struct {
	Name, Type, Meaning string
	expr                string
}

// Views lists the tables that Select knows, with all their columns. now decides which runs are lost.
func Views(now time.Time) []View {
	return []View{runsView(now), metadataView(), artifactsView(), linksView(), edgesView(), ancestryView(), datasetsView(), aliasesView()}
}

// create is the statement that makes the view.
func (v View) create() string {
	columns := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		columns[i] = c.expr + " AS " + c.Name
	}
	return fmt.Sprintf("CREATE TEMP VIEW %s AS SELECT %s %s", v.Name, strings.Join(columns, ", "), v.body)
}

// timeOf writes nanoseconds as RFC 3339 with nine digits, so that texts compare as times do.
func timeOf(column string) string {
	return fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%S', %[1]s / 1000000000, 'unixepoch') || printf('.%%09dZ', %[1]s %% 1000000000)", column)
}

// valueOf is a piece of a run's metadata.
func valueOf(key, column string) string {
	return fmt.Sprintf("(SELECT %s FROM main.meta WHERE meta.run = run.n AND meta.k = (SELECT k FROM main.metakey WHERE metakey.name = '%s'))", column, key)
}

func runsView(now time.Time) View {
	columns := []ViewColumn{
		{"run_id", "TEXT", "the whole id", "node.id"},
		{"name", "TEXT", "as given, else the last part of the id", "run.name"},
		{"state", "TEXT", "RUNNING, SUCCEEDED, FAILED, CANCELLED, LOST, UNKNOWN, …", stateExpr(now)},
		{"started", "TEXT", "time", timeOf("run.started")},
		{"ended", "TEXT", "time", timeOf("run.ended")},
		{"duration_seconds", "REAL", "from started to ended", "(run.ended - run.started) / 1e9"},
		{"attempts", "INTEGER", "how often it was tried; 0 = not known", "run.attempts"},
		{"exit_code", "INTEGER", "of the last attempt", "CAST(" + valueOf(tracker.KeyExitCode, "number") + " AS INTEGER)"},
	}
	for _, c := range []struct{ name, key, meaning string }{
		{"signal", tracker.KeySignal, "that ended it"}, {"user", tracker.KeyUser, "who ran it"}, {"host", tracker.KeyHost, "where it ran"},
		{"project", tracker.KeyProject, ""}, {"experiment", tracker.KeyExperiment, ""}, {"output_dir", tracker.KeyOutputDir, "where its outputs are"},
		{"git_commit", tracker.KeyGitCommit, "of its code"}, {"git_branch", tracker.KeyGitBranch, "of its code"},
	} {
		columns = append(columns, ViewColumn{c.name, "TEXT", c.meaning, valueOf(c.key, "text")})
	}
	columns = append(columns,
		ViewColumn{"command", "TEXT", "its words, joined by spaces", "nullif(run.command, '')"},
		ViewColumn{"inputs", "INTEGER", "how many links say what it used", "run.inputs"},
		ViewColumn{"unreadable", "INTEGER", "how many of its records could not be read", "run.warnings"},
		ViewColumn{"lost_at", "TEXT", "time at which a running one counts as LOST unless it gives a sign of life before", timeOf("run.lost_at")})
	return View{"runs", "one row a run", columns, "FROM main.run JOIN main.node ON node.n = run.n"}
}

func metadataView() View {
	return View{"metadata", "one row for each key of a run's metadata that has a value: parameters (params.*), metrics (metrics.*, the last value), tags (tags.*) and what heirloom notes (heirloom.*)", []ViewColumn{
		{"run_id", "TEXT", "", "node.id"},
		{"key", "TEXT", "", "metakey.name"},
		{"type", "TEXT", "string, int, float, bool, list or object", "meta.type"},
		{"text", "TEXT", "a string itself, of anything else its JSON", "meta.text"},
		{"number", "REAL", "a number, or a string that reads as one", "meta.number"},
		{"integer", "INTEGER", "an int, exactly, if 64 bits hold it", "CASE WHEN meta.type = 'int' AND CAST(CAST(meta.text AS INTEGER) AS TEXT) = meta.text THEN CAST(meta.text AS INTEGER) END"},
		{"boolean", "INTEGER", "1 or 0 of a bool", "CASE meta.type WHEN 'bool' THEN meta.text = 'true' END"},
	}, "FROM main.meta JOIN main.metakey ON metakey.k = meta.k JOIN main.node ON node.n = meta.run"}
}

func artifactsView() View {
	return View{"artifacts", "one row for each artifact that a run made", []ViewColumn{
		{"run_id", "TEXT", "", "node.id"},
		{"name", "TEXT", "unique in its run", "artifact.name"},
		{"path", "TEXT", "full URL, or what the writer called it", "artifact.path"},
		{"kind", "TEXT", "model, checkpoint, dataset, metrics, log or other", "artifact.kind"},
		{"sha256", "TEXT", "64 hexadecimal digits", "artifact.sha256"},
		{"size_bytes", "INTEGER", "", "artifact.size_bytes"},
		{"key", "TEXT", "where the bytes are, below the store", "artifact.key"},
	}, "FROM main.artifact JOIN main.node ON node.n = artifact.run"}
}

func linksView() View {
	text := func(name, meaning string) ViewColumn {
		return ViewColumn{name, "TEXT", meaning, "nullif(link." + name + ", '')"}
	}
	return View{"links", "one row for each thing that a run used", []ViewColumn{
		{"run_id", "TEXT", "who used it", "node.id"},
		{"source_id", "TEXT", "the run or input that was used", "source.id"},
		text("artifact", "of the source; NULL = none was named"),
		text("role", "input, parent or rerun; NULL = not said"),
		{"time", "TEXT", "time at which the link was recorded", timeOf("link.time")},
		text("uri", "of an input, as the next three"), text("name", ""), text("version", ""), text("digest", ""),
		{"source_is_run", "INTEGER", "1: the root records the source as a run", "EXISTS (SELECT 1 FROM main.run WHERE run.n = link.source)"},
	}, "FROM main.link JOIN main.node ON node.n = link.run JOIN main.node AS source ON source.n = link.source"}
}

func edgesView() View {
	return View{"edges", "the links as edges of a graph, and one for each input that a run made: an artifact of it has the input's id for a path", []ViewColumn{
		{"source_id", "TEXT", "", "source_id"},
		{"target_id", "TEXT", "", "target_id"},
		{"artifact", "TEXT", "NULL = none was named", "artifact"},
		{"role", "TEXT", "as in links, or made", "role"},
	}, `FROM (SELECT source.id AS source_id, node.id AS target_id, nullif(link.artifact, '') AS artifact, nullif(link.role, '') AS role
		FROM main.link JOIN main.node ON node.n = link.run JOIN main.node AS source ON source.n = link.source
		UNION ALL SELECT node.id, made.id, artifact.name, 'made'
		FROM main.artifact JOIN main.node ON node.n = artifact.run JOIN main.node AS made ON made.id = artifact.path
		WHERE NOT EXISTS (SELECT 1 FROM main.run WHERE run.n = made.n))`}
}

func ancestryView() View {
	return View{"ancestry", "one row for each two nodes of which one came of the other, by whatever way. Say of whom, by descendant_id or ancestor_id: all of them are many", []ViewColumn{
		{"descendant_id", "TEXT", "a run, or an input that a run made", ""},
		{"ancestor_id", "TEXT", "a run or an input", ""},
		{"depth", "INTEGER", "edges on the shortest way, from 1", ""},
	}, ""}
}

func datasetsView() View {
	text := func(name string) ViewColumn {
		return ViewColumn{name, "TEXT", "", "nullif(link." + name + ", '')"}
	}
	return View{"datasets", "one row for each input that is no run, and each thing that links tell of it", []ViewColumn{
		{"source_id", "TEXT", "name@version, or the URI", "node.id"},
		text("name"), text("version"), text("digest"), text("uri"),
		{"used_by", "INTEGER", "runs", "count(DISTINCT link.run)"},
		{"first_used", "TEXT", "time", timeOf("min(link.time)")},
		{"last_used", "TEXT", "time", timeOf("max(link.time)")},
	}, `FROM main.link JOIN main.node ON node.n = link.source
		WHERE (link.role = 'input' OR link.role = '' AND NOT (` + handle + `)) AND NOT EXISTS (SELECT 1 FROM main.run WHERE run.n = link.source)
		GROUP BY link.source, link.name, link.version, link.digest, link.uri`}
}

// handle tells the id of a run, scheduler://session/name, from the URI of data.
const handle = `node.id GLOB '*://*/?*' AND lower(substr(node.id, 1, instr(node.id, '://') - 1)) NOT IN
	('file', 'mem', 's3', 's3a', 's3n', 'gs', 'hdfs', 'dbfs', 'http', 'https', 'ftp', 'abfs', 'abfss', 'wasb', 'wasbs', 'az')`

func aliasesView() View {
	return View{"aliases", "one row for each alias, such as prod", []ViewColumn{
		{"alias", "TEXT", "without the @", "alias.name"},
		{"node_id", "TEXT", "what it stands for: a run, or RUN#ARTIFACT", "alias.node"},
		{"run_id", "TEXT", "the run", "CASE alias.artifact WHEN '' THEN alias.node ELSE substr(alias.node, 1, length(alias.node) - length(alias.artifact) - 1) END"},
		{"artifact", "TEXT", "of the run; NULL = the run itself", "nullif(alias.artifact, '')"},
		{"number", "INTEGER", "how often it was set", "alias.number"},
		{"time", "TEXT", "time at which it was set", timeOf("alias.time")},
		{"user", "TEXT", "who set it", "nullif(alias.user, '')"},
		{"reason", "TEXT", "", "nullif(alias.reason, '')"},
	}, "FROM main.alias WHERE alias.node <> ''"}
}
