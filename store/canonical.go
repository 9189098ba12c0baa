package store

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// CanonicalURI gives the one spelling under which a place is known wherever a URI serves as an identity. workdir, an
// absolute local path, completes relative ones. The error has kind ErrInvalid.
//
//   - Local paths become file:///absolute/clean/path; file:/p and file://localhost/p too.
//   - s3a and s3n become s3, gcs becomes gs, /dbfs/p and dbfs:///p become dbfs:/p.
//   - In these, and in hdfs, paths stand for themselves, without percent escapes, as in fsspec. A "?" or "#" is
//     part of a local path; elsewhere it is refused, save for the options of a connection to a
//     bucket, which are dropped. A "." or ".." in a bucket is refused; elsewhere paths are cleaned.
//   - Schemes and hosts are in lower case; default ports, user names, passwords and trailing slashes are dropped.
//   - Of other URLs the fragment and all that signs a request is dropped, and percent escapes are made uniform.
//   - Text that begins with a scheme but no slash, such as sha256:… or jdbc:…, stays as it is but for the
//     scheme's case and secrets.
func CanonicalURI(uri, workdir string) (string, error) {
	canonical, err := canonicalURI(uri, workdir)
	if err != nil {
		return "", &Error{Op: "read uri", Key: RedactURL(uri), Kind: ErrInvalid, Err: err}
	}
	return canonical, nil
}

func canonicalURI(uri, workdir string) (string, error) {
	switch {
	case uri == "":
		return "", errors.New("it is empty")
	case !utf8.ValidString(uri):
		return "", errors.New("it is not UTF-8")
	case strings.ContainsFunc(uri, unicode.IsControl):
		return "", errors.New("it holds a control character")
	}
	name, rest, ok := cutScheme(uri)
	if !ok {
		return canonicalPath(uri, workdir)
	}
	switch name {
	case "file":
		return canonicalFile(rest)
	case "s3", "s3a", "s3n":
		return canonicalBucket("s3", rest)
	case "gs", "gcs":
		return canonicalBucket("gs", rest)
	case "hdfs", "viewfs", "webhdfs":
		return canonicalHDFS(name, rest)
	case "dbfs":
		return canonicalDBFS(rest)
	}
	if !strings.HasPrefix(rest, "/") {
		return name + ":" + Redact(rest), nil
	}
	return canonicalOther(name + ":" + rest)
}

// canonicalPath is for a path of the local machine.
func canonicalPath(p, workdir string) (string, error) {
	full := p
	if !filepath.IsAbs(p) {
		if !filepath.IsAbs(workdir) {
			return "", errors.New("a relative path needs a working directory")
		}
		full = filepath.Join(workdir, p)
	}
	full = filepath.ToSlash(filepath.Clean(full))
	if full == "/dbfs" || strings.HasPrefix(full, "/dbfs/") {
		return "dbfs:/" + strings.TrimPrefix(full[len("/dbfs"):], "/"), nil
	}
	return "file:///" + strings.TrimPrefix(full, "/"), nil
}

func canonicalFile(rest string) (string, error) {
	if behind, ok := strings.CutPrefix(rest, "//"); ok {
		host, p, _ := strings.Cut(behind, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", fmt.Errorf("%q stands where a host does; a local path is written file:///%s", host, behind)
		}
		rest = "/" + p
	}
	if !strings.HasPrefix(rest, "/") {
		return "", errors.New("a file URL holds an absolute path")
	}
	if runsOnDrive(rest[1:]) {
		rest = rest[1:]
	}
	return canonicalPath(rest, "")
}

// runsOnDrive says whether p begins with a drive letter on a system that has them.
func runsOnDrive(p string) bool { return filepath.VolumeName(filepath.FromSlash(p)) != "" }

// connectionOptions are the parameters with which a store is opened. They say how to get there, not where it is.
var connectionOptions = wordSet("endpoint region profile use_path_style s3ForcePathStyle disable_https " +
	"hostname_immutable anonymous dualstack fips accelerate role ssetype kmskeyid rate_limiter_capacity " +
	"request_checksum_calculation response_checksum_validation access_id universe_domain grpc zonal")

func canonicalBucket(name, rest string) (string, error) {
	place, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", fmt.Errorf("%s: is followed by two slashes", name)
	}
	place, query, _ := strings.Cut(place, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if option, _, _ := strings.Cut(pair, "="); pair != "" && !connectionOptions(option) {
			return "", fmt.Errorf("the parameter %q says nothing about a place in a bucket", option)
		}
	}
	if err := refuseExtras(place); err != nil {
		return "", err
	}
	bucket, key, _ := strings.Cut(place, "/")
	bucket = bucket[strings.LastIndexByte(bucket, '@')+1:]
	if bucket == "" || strings.Contains(bucket, ":") {
		return "", errors.New("the name of the bucket is missing or no valid one")
	}
	for elem := range strings.SplitSeq(key, "/") {
		if elem == "." || elem == ".." {
			return "", fmt.Errorf("the path has an element %q", elem)
		}
	}
	return name + "://" + strings.TrimRight(bucket+"/"+key, "/"), nil
}

func canonicalHDFS(name, rest string) (string, error) {
	if err := refuseExtras(rest); err != nil {
		return "", err
	}
	host := ""
	if behind, ok := strings.CutPrefix(rest, "//"); ok {
		host, rest, _ = strings.Cut(behind, "/")
		rest = "/" + rest
	}
	if !strings.HasPrefix(rest, "/") {
		return "", fmt.Errorf("the path behind %s: is absolute", name)
	}
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	return name + "://" + strings.TrimSuffix(host, defaultPort(name)) + path.Clean(rest), nil
}

func canonicalDBFS(rest string) (string, error) {
	if err := refuseExtras(rest); err != nil {
		return "", err
	}
	if strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///") {
		return "", errors.New("dbfs: is followed by one slash")
	}
	if !strings.HasPrefix(rest, "/") {
		return "", errors.New("the path behind dbfs: is absolute")
	}
	return "dbfs:" + path.Clean(rest), nil
}

// refuseExtras refuses what some program would cut off a path and another would take for part of it.
func refuseExtras(s string) error {
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		return fmt.Errorf("it holds %q, which is no part of a path in the URL of a store", s[i])
	}
	return nil
}

// canonicalOther is for URLs of no store: http, postgres and the like.
func canonicalOther(uri string) (string, error) {
	u, err := url.Parse(dropUser(uri))
	if err != nil {
		return "", errors.New("it is no valid URL")
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, defaultPort(u.Scheme))
	u.RawPath = strings.TrimRight(uniformEscapes(u.EscapedPath()), "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return "", errors.New("it is no valid URL")
	}
	u.RawQuery = unsignedQuery(u.RawQuery)
	u.ForceQuery = false
	return u.String(), nil
}

// dropUser takes out what stands before an "@" in front of the host, of whatever characters.
func dropUser(uri string) string {
	start, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return uri
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return start + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}

var percentEscape = pattern.Lazy(`%[0-9A-Fa-f]{2}`)

// uniformEscapes resolves the escapes of bytes that never need one and writes the others in capitals (RFC 3986, 6.2.2).
func uniformEscapes(p string) string {
	return percentEscape().ReplaceAllStringFunc(p, func(escape string) string {
		plain, err := url.PathUnescape(escape)
		if err == nil && (isRunByte(plain[0]) || plain == "~") {
			return plain
		}
		return strings.ToUpper(escape)
	})
}

// unsignedQuery drops what only signs a request: it changes with each signing, and it is secret.
func unsignedQuery(query string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if pair != "" && !isSigning(name) {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

var signing = pattern.Lazy(`(?i)^(x-amz-.*|x-goog-.*|sig|signature|expires|googleaccessid|awsaccesskeyid|key-pair-id|policy)$`)

func isSigning(name string) bool { return signing().MatchString(name) || isSecretName(name) }

// defaultPort is what a host of the scheme may end in without saying anything.
func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return ":80"
	case "https", "wss":
		return ":443"
	case "hdfs":
		return ":8020"
	case "webhdfs":
		return ":9870"
	case "postgres", "postgresql":
		return ":5432"
	case "mysql":
		return ":3306"
	case "ssh", "sftp":
		return ":22"
	case "ftp":
		return ":21"
	}
	return "-" // no host ends so
}
