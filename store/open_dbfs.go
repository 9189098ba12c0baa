package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/dbfsblob"
	"github.com/heirloom-ml/heirloom/store/internal/localblob"
)

// DBFSOptions are for the file system of Databricks, and volumes of its Unity Catalog.
type DBFSOptions struct {
	// Mount is the local directory where dbfs:/ is mounted, volumes below its Volumes. It is
	// taken as it is. "" is what HEIRLOOM_DBFS_MOUNT says; without it mounts are looked for
	// at /dbfs and at /Volumes.
	Mount string
	// Host is the workspace, as https://name.cloud.databricks.com, and Token one of
	// its tokens. What is empty comes from the environment and the profile. A host
	// is asked by its REST APIs, whatever is mounted, unless HEIRLOOM_DBFS says mount.
	Host  string
	Token Secret
}

// getenv is environ with what the options say instead.
func (o DBFSOptions) getenv(environ func(string) string) func(string) string {
	return func(name string) string {
		switch {
		case name == "DATABRICKS_HOST" && o.Host != "":
			return o.Host
		case name == "DATABRICKS_TOKEN" && o.Token != "":
			return string(o.Token)
		case name == "DATABRICKS_CONFIG_PROFILE" && o.Host != "" && o.Token != "":
			return ""
		}
		return environ(name)
	}
}

// Ways to reach DBFS, the values of HEIRLOOM_DBFS.
const (
	dbfsByMount = "mount"
	dbfsByREST  = "rest"
)

// openDBFS reads /path, what stands behind "dbfs:" or "dbfs://".
func openDBFS(_ context.Context, rest string, opts Options) (*Store, error) {
	if !strings.HasPrefix(rest, "/") {
		return nil, invalid(errors.New("a dbfs URL names no host, as in dbfs:/path; DATABRICKS_HOST does"))
	}
	p, err := dbfsPath(rest)
	if err != nil {
		return nil, invalid(err)
	}
	return openDatabricks(p, opts, dbfsHereOf(opts))
}

// dbfsPath is the clean absolute path of DBFS, checked.
func dbfsPath(rest string) (string, error) {
	uri, err := canonicalDBFS(rest)
	if err != nil {
		return "", err
	}
	p := strings.TrimPrefix(uri, "dbfs:")
	if p != "/" {
		err = checkKey(strings.Trim(p, "/"))
	}
	return p, err
}

// openDatabricks opens a path of DBFS by the mount where there is one, else by the REST API of a workspace.
func openDatabricks(p string, opts Options, here dbfsHere) (*Store, error) {
	dir, mounted := here.mountOf(p)
	if here.by == "" && opts.DBFS.Host != "" {
		here.by = dbfsByREST
	}
	switch {
	case here.by != "" && here.by != dbfsByMount && here.by != dbfsByREST:
		return nil, invalid(fmt.Errorf("HEIRLOOM_DBFS is %q; known are %s and %s", here.by, dbfsByMount, dbfsByREST))
	case mounted && here.by != dbfsByREST:
		return openMount(p, dir, opts)
	case here.by == dbfsByMount:
		return nil, invalid(fmt.Errorf("HEIRLOOM_DBFS asks for the mount of dbfs:%s, and %s is none", p, mountPoint(p)))
	}
	s := &Store{core: &core{opts: opts}}
	config, err := dbfsblob.LoadConfig(opts.DBFS.getenv(s.environ))
	if errors.Is(err, dbfsblob.ErrNotConfigured) {
		err = fmt.Errorf("there is no mount of Databricks' file system at %s, and %w", mountPoint(p), err)
	}
	if err != nil {
		return nil, invalid(err)
	}
	b, err := dbfsblob.Open(p, config)
	if err != nil {
		return nil, treeError(err)
	}
	return newStore(place{scheme: "dbfs", root: p}, "", &dbfsBackend{bucket: b}, opts), nil
}

// openMount opens a directory below the mount.
func openMount(p, dir string, opts Options) (*Store, error) {
	b, err := localblob.Open(dir, &localblob.Options{Sequential: true})
	if err != nil {
		return nil, notDirectory(dir, err)
	}
	return newStore(place{scheme: "dbfs", root: p}, "", &mountBackend{bucket: b}, opts), nil
}

// openBelowMount opens a plain path where Databricks mounts its file system: /dbfs/p and
// /Volumes/p. It is nil where the path is an ordinary one, as those of the disks below
// /Volumes on macOS.
func openBelowMount(path string, opts Options) (*Store, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, ok := databricksPath(filepath.ToSlash(full)); !ok {
		return nil, nil
	}
	return openPlainOf(filepath.ToSlash(full), opts, dbfsHereOf(opts))
}

// openPlainOf does so for an absolute path on a machine that has this of Databricks.
func openPlainOf(full string, opts Options, here dbfsHere) (*Store, error) {
	p, ok := databricksPath(full)
	if !ok {
		return nil, nil
	}
	_, mounted := here.mountOf(p)
	ordinary := here.isDir(ordinaryDir(p))
	switch {
	case mounted || here.by == dbfsByREST:
	case ordinary && !here.runtime:
		return nil, nil
	case ordinary && here.by == "":
		if _, err := dbfsblob.LoadConfig((&Store{core: &core{opts: opts}}).environ); errors.Is(err, dbfsblob.ErrNotConfigured) {
			return nil, invalid(fmt.Errorf("%s is an ordinary directory of this cluster, which ends with it, and no mount: %w", ordinaryDir(p), err))
		}
	}
	return openDatabricks(p, opts, here)
}
