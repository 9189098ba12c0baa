package openlineage

import (
	"cmp"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// input is what a link means as a dataset, if it means one: a parent and a run of which nobody said what was used are
// none.
func (w writer) input(s tracker.Source) (d Dataset, ok bool) {
	facets := &pyjson.Object{}
	switch {
	case s.Role == tracker.RoleParent, s.Role == tracker.RoleRerun:
		return d, false
	case s.Role != tracker.RoleInput && s.Artifact == "":
		return d, false
	case s.Role != tracker.RoleInput:
		d = w.artifactOf(s.ID, s.Artifact)
	case s.Name != "" && s.URI == "" && strings.Contains(s.Name, "/"):
		d.Namespace, d.Name = cutName(s.Name)
	case s.Name != "":
		d.Namespace, d.Name = ownNamespace, s.Name
	default:
		d.Namespace, d.Name = nameOf(cmp.Or(s.URI, string(s.ID)), w.Workspace)
	}
	if version := cmp.Or(s.Version, s.Digest); version != "" {
		w.set(facets, datasetVersion, member("datasetVersion", version))
	}
	if s.Name != "" {
		w.setSchema(facets, w.table(s.Digest))
	}
	if s.URI != "" && d.Namespace == ownNamespace {
		w.set(facets, dataSource, member("name", s.Name), member("uri", s.URI))
	}
	w.setOwn(facets, inputFacet, member("id", string(s.ID)), member("artifact", s.Artifact), member("digest", s.Digest))
	d.Facets = facets
	return d, true
}

// cutName takes apart what Dataset.source joined: a namespace may have slashes behind its scheme.
func cutName(name string) (namespace, rest string) {
	from := 0
	if i := strings.Index(name, "://"); i >= 0 {
		from = i + len("://")
	}
	if i := strings.IndexByte(name[from:], '/'); i > 0 && from+i+1 < len(name) {
		return name[:from+i], name[from+i+1:]
	}
	return ownNamespace, name
}

// artifactOf names an artifact of another run as that run names it itself.
func (w writer) artifactOf(run tracker.RunID, artifact string) Dataset {
	if other := w.lookup(run); other != nil {
		for _, a := range other.Artifacts {
			if a.Name == artifact {
				d := w.output(run, a)
				return Dataset{Namespace: d.Namespace, Name: d.Name}
			}
		}
	}
	return Dataset{Namespace: ownNamespace, Name: string(run) + "#" + artifact}
}

// output is an artifact as a dataset.
func (w writer) output(run tracker.RunID, a tracker.Artifact) Dataset {
	d := Dataset{Namespace: ownNamespace, Name: string(run) + "#" + a.Name}
	facets, stats := w.kept(a.Metadata, prefixDatasetFacet), w.kept(a.Metadata, prefixOutputFacet)
	name, version, named := strings.Cut(a.Name, "@")
	switch theirs := a.Metadata.Text(keyDatasetNamespace); {
	case theirs != "":
		d.Namespace, d.Name = theirs, a.Metadata.Text(keyDatasetName)
	case a.Kind() == tracker.KindDataset && named:
		d.Name = name
		w.set(facets, datasetVersion, member("datasetVersion", version))
		if a.Path != "" {
			w.set(facets, dataSource, member("name", name), member("uri", a.Path))
		}
	case strings.Contains(a.Path, "://") || strings.HasPrefix(a.Path, "/") || strings.HasPrefix(a.Path, "dbfs:"):
		d.Namespace, d.Name = nameOf(a.Path, w.Workspace)
	}
	if sum := a.SHA256(); sum != "" && facetOf(facets, datasetVersion.key) == nil {
		w.set(facets, datasetVersion, member("datasetVersion", "sha256:"+sum))
	}
	if kind := a.Kind(); kind != tracker.KindOther && facetOf(facets, datasetType.key) == nil {
		w.set(facets, datasetType, member("datasetType", standardType(kind)), member("subType", strings.ToUpper(kind)))
	}
	table := w.table(a.Metadata.Text(keyFingerprint))
	w.setSchema(facets, table)
	w.setOwn(facets, madeFacet, member("name", a.Name), member("path", a.Path), member("metadata", orNull(a.Metadata)))
	rows, size, files := number(a, "rows"), number(a, tracker.KeySizeBytes), number(a, "files")
	if table != nil {
		rows, size, files = table.Rows, table.Bytes, table.Files
	}
	if (size != nil || rows != nil) && facetOf(stats, outputStatistics.key) == nil {
		w.set(stats, outputStatistics, member("rowCount", rows), member("size", size), member("fileCount", files))
	}
	d.Facets, d.OutputFacets = facets, orNil(stats)
	return d
}

// keyFingerprint is in the metadata of an artifact that is a dataset of the store.
const keyFingerprint = "fingerprint"

// table is what is known of the dataset with a fingerprint, nil if nothing is.
func (w writer) table(fingerprint string) *Table {
	if fingerprint == "" || w.Table == nil {
		return nil
	}
	return w.Table(fingerprint)
}

// setSchema adds the columns of a table, unless the tool that made it told them itself.
func (w writer) setSchema(to *pyjson.Object, t *Table) {
	if t == nil || facetOf(to, tableSchema.key) != nil {
		return
	}
	if list := fields(t.Fields); len(list) > 0 {
		w.set(to, tableSchema, member("fields", list))
	}
}

// standardType is the word of the standard's examples for a kind.
func standardType(kind string) string {
	switch kind {
	case tracker.KindModel, tracker.KindCheckpoint:
		return "MODEL"
	case tracker.KindDataset:
		return "TABLE"
	}
	return "FILE"
}

// fields numbers columns from 1.
func fields(list []Field) []any {
	var all []any
	for i, f := range list {
		o := pyjson.NewObject(member("name", f.Name), member("type", f.Type), member("ordinal_position", int64(i+1)))
		if len(f.Fields) > 0 {
			o.Set("fields", fields(f.Fields))
		}
		all = append(all, o)
	}
	return all
}

// moment is nil for the zero time, else RFC 3339.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// orNull is a plain nil for no metadata.
func orNull(m *tracker.Metadata) any {
	if m == nil {
		return nil
	}
	return m
}
