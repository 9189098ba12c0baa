package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// scheme is one kind of URL. open gets what stands behind "scheme://".
type scheme struct {
	name string
	open func(ctx context.Context, rest string, opts Options) (*Store, error)
}

// schemes is the table of all that Open understands.
func schemes() []scheme {
	return []scheme{
		{"file", openFile},
		{"mem", openMem},
		{"s3", openS3},
		{"s3a", openS3},
		{"s3n", openS3},
		{"gs", openGCS},
		{"hdfs", openHDFS},
		{"dbfs", openDBFS},
	}
}

// cutScheme splits at the colon behind a scheme of two letters or more, so that C:/ is a path. The scheme is in lower case.
func cutScheme(url string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(url, ":")
	if !ok || len(name) < 2 || !isLetter(name[0]) {
		return "", "", false
	}
	for _, c := range []byte(name) {
		if !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("+.-", c) < 0 {
			return "", "", false
		}
	}
	return strings.ToLower(name), rest, true
}

func isLetter(c byte) bool { return isUpper(c) || isLower(c) }

// splitURL cuts "scheme://rest", or "scheme:/rest" where a slash follows. The
// scheme of a plain path is "".
func splitURL(url string) (name, rest string, err error) {
	name, rest, ok := cutScheme(url)
	if !ok || !strings.HasPrefix(rest, "/") && name != "dbfs" {
		return "", url, nil
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		return name, after, nil
	}
	if name == "file" || name == "dbfs" || name == "hdfs" {
		return name, rest, nil // file:/path means the same as file:///path
	}
	return "", "", fmt.Errorf("%s: is followed by two slashes in a store's URL", name)
}

func openScheme(ctx context.Context, url string, opts Options) (*Store, error) {
	if url == "" {
		return nil, invalid(errors.New("the URL of the store is empty"))
	}
	name, rest, err := splitURL(url)
	if err != nil {
		return nil, invalid(err)
	}
	if name == "" {
		return openPath(rest, opts)
	}
	var known []string
	for _, sc := range schemes() {
		if sc.name == name {
			return sc.open(ctx, rest, opts)
		}
		known = append(known, sc.name)
	}
	slices.Sort(known)
	if name == "viewfs" {
		return nil, &Error{Kind: ErrUnsupported, Err: errors.New("viewfs is a table of mounts, not a cluster; give the hdfs URL that it links to (fs.viewfs.mounttable in the Hadoop configuration)")}
	}
	return nil, invalid(fmt.Errorf("unknown scheme %q; known are %s, and a plain path", name, strings.Join(known, ", ")))
}
