package openlineage

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker"
)

// ownNamespace is that of datasets which heirloom knows by name alone.
const ownNamespace = "heirloom"

// driveLetter is the beginning of a path on Windows.
var driveLetter = pattern.Lazy(`^/?[A-Za-z]:[/\\]`)

// nameOf is a place as the standard names datasets (https://openlineage.io/docs/spec/naming): the bucket, host or
// workspace as namespace, the path as name, without a leading slash in buckets. workspace is the host of Databricks, ""
// if unknown.
func nameOf(uri, workspace string) (namespace, name string) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || driveLetter().MatchString(uri) {
		return "file", cleanPath(uri)
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "file":
		return nameOfFile(rest)
	case "dbfs":
		namespace = "dbfs"
		if workspace != "" {
			namespace += "://" + workspace
		}
		return namespace, cleanPath("/" + strings.TrimLeft(rest, "/"))
	}
	place, isURL := strings.CutPrefix(rest, "//")
	if !isURL {
		return scheme, rest
	}
	host, key, _ := strings.Cut(place, "/")
	switch scheme {
	case "hdfs", "webhdfs", "viewfs":
		return scheme + "://" + host, cleanPath("/" + key)
	case "s3a", "s3n":
		scheme = "s3"
	case "gcs":
		scheme = "gs"
	case "abfs":
		scheme = "abfss"
	case "wasb":
		scheme = "wasbs"
	}
	return scheme + "://" + host, cmp.Or(strings.Trim(key, "/"), "/")
}

func nameOfFile(rest string) (namespace, name string) {
	namespace = "file"
	if place, isURL := strings.CutPrefix(rest, "//"); isURL {
		host, p, _ := strings.Cut(place, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			namespace += "://" + host
		}
		rest = "/" + p
	}
	return namespace, cleanPath(rest)
}

// cleanPath is a path with slashes and without one at the end; a drive letter has none before it.
func cleanPath(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if driveLetter().MatchString(p) {
		p = strings.TrimPrefix(p, "/")
	}
	if p == "" || strings.Trim(p, "/") == "" {
		return "/"
	}
	return path.Clean(p)
}

// uriOf is the place that a dataset's name means, "" where it means none: nameOf the other way round.
func uriOf(d Dataset) string {
	scheme, host, isURL := strings.Cut(d.Namespace, "://")
	switch {
	case d.Namespace == "file" && (strings.HasPrefix(d.Name, "/") || driveLetter().MatchString(d.Name)):
		return "file:///" + strings.TrimLeft(d.Name, "/")
	case scheme == "dbfs" && strings.HasPrefix(d.Name, "/"):
		return "dbfs:" + d.Name
	case !isURL || host == "" || strings.Contains(host, "/"):
		return ""
	case d.Name == "/":
		return d.Namespace
	}
	return d.Namespace + "/" + strings.TrimLeft(d.Name, "/")
}

// source is a dataset as an input here: a place under its canonical URI, anything else under NAMESPACE/NAME. The same
// dataset gives the same id, whatever its facets say.
func (d Dataset) source() (tracker.Source, error) {
	s := tracker.Source{Digest: digestOf(d)}
	if d.Namespace == ownNamespace {
		s.Name, s.Version = d.Name, versionOf(d)
		return tracker.NewInput(s, "")
	}
	if uri := uriOf(d); uri != "" && knownPlace(d.Namespace) {
		s.URI = uri
		if place, err := tracker.NewInput(s, ""); err == nil {
			place.Version = store.Redact(versionOf(d))
			return place, nil
		}
		s.URI = ""
	}
	s.Name = strings.TrimRight(d.Namespace, "/") + "/" + d.Name
	named, err := tracker.NewInput(s, "")
	named.Version = store.Redact(versionOf(d))
	return named, err
}

// knownPlace says whether a namespace is one of storage, whose URIs mean places. A database's URL with a table behind
// it would lose its dots and capitals to nothing, but be no place either.
func knownPlace(namespace string) bool {
	scheme, _, _ := strings.Cut(namespace, ":")
	switch scheme {
	case "s3", "s3a", "s3n", "gs", "gcs", "hdfs", "webhdfs", "viewfs", "dbfs", "file", "http", "https", "ftp":
		return true
	}
	return false
}

// versionOf is what the facet of a dataset's version says.
func versionOf(d Dataset) string { return facetText(d.Facets, "version", "datasetVersion") }

// digestOf is the SHA-256 that heirloom's own facet tells, "" otherwise.
func digestOf(d Dataset) string { return facetText(d.Facets, inputFacet, "digest") }

// jobNamespace checks a namespace of jobs.
func jobNamespace(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		text = store.RedactURL(text)
	}
	return cmp.Or(text, DefaultNamespace)
}

// DefaultNamespace is the standard's for jobs of which nobody says another.
const DefaultNamespace = "default"
