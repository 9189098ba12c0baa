package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mountTable is in the form of /proc/self/mountinfo, as a cluster of Databricks has it, and a machine with a disk of
// its own at /dbfs.
const (
	clusterTable = `22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:27 / /dbfs rw,nosuid,nodev,relatime - fuse.goofys-dbfs dbfs rw,user_id=0
31 22 0:28 / /Volumes rw,nosuid,nodev,relatime shared:4 - fuse volumes rw,user_id=0
32 22 0:29 / /mnt/with\040space rw - tmpfs tmpfs rw
`
	volumesOnlyTable = `22 1 259:1 / / rw - ext4 /dev/root rw
31 22 0:28 / /Volumes/c/s/v rw - fuse volumes rw
`
	oddTable = `22 1 259:1 / / rw - ext4 /dev/root rw
30 22 8:1 / /dbfs rw - ext4 /dev/sda1 rw
broken line
`
	hiddenTable = `22 1 259:1 / / rw - ext4 /dev/root rw
30 22 0:27 / /dbfs rw - fuse.dbfs dbfs rw
40 30 0:40 / /dbfs rw - tmpfs tmpfs rw
`
)

func TestMountOf(t *testing.T) {
	for _, c := range []struct {
		name, table, path string
		runtime           bool
		want              string // "" is no mount
	}{
		{"a cluster", clusterTable, "/a/b", true, "/dbfs/a/b"},
		{"a cluster, the root", clusterTable, "/", true, "/dbfs"},
		{"a cluster, a volume", clusterTable, "/Volumes/c/s/v/p", true, "/Volumes/c/s/v/p"},
		{"a mount of FUSE that no cluster made", clusterTable, "/a", false, "/dbfs/a"},
		{"one volume alone", volumesOnlyTable, "/Volumes/c/s/v/p", true, "/Volumes/c/s/v/p"},
		{"another volume", volumesOnlyTable, "/Volumes/c/s/w/p", true, ""},
		{"no mount at /dbfs", volumesOnlyTable, "/a", true, ""},
		{"a disk at /dbfs", oddTable, "/a", false, ""},
		{"a mount of another kind on a cluster", oddTable, "/a", true, "/dbfs/a"},
		{"a mount that another hides", hiddenTable, "/a", false, ""},
		{"no table", "", "/a", true, ""},
	} {
		h := dbfsHere{mounts: readMounts(c.table), runtime: c.runtime}
		if dir, ok := h.mountOf(c.path); ok != (c.want != "") || ok && dir != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, dir, ok, c.want)
		}
	}
	if m := readMounts(clusterTable); len(m) != 4 || m[3].point != "/mnt/with space" {
		t.Errorf("the table reads %v", m)
	}
}

// TestPathsOfDatabricks opens plain paths on machines that have nothing of Databricks, or some of it.
func TestPathsOfDatabricks(t *testing.T) {
	configured := []string{"DATABRICKS_HOST=https://w.example", "DATABRICKS_TOKEN=x"}
	cluster := []string{"DATABRICKS_RUNTIME_VERSION=15.4"}
	laptop := func(dirs ...string) dbfsHere {
		return dbfsHere{isDir: func(p string) bool { return strings.Contains(strings.Join(dirs, " ")+" ", p+" ") }}
	}
	onCluster := laptop("/dbfs", "/Volumes/c")
	onCluster.runtime = true
	mounted := onCluster
	mounted.mounts = readMounts(clusterTable)
	byREST := mounted
	byREST.by = dbfsByREST
	for _, c := range []struct {
		name    string
		here    dbfsHere
		path    string
		environ []string
		want    string // mount, rest, local, or a part of the error
	}{
		{"a laptop with a disk", laptop("/Volumes/Backup"), "/Volumes/Backup/store", configured, "local"},
		{"a laptop with a directory /dbfs", laptop("/dbfs"), "/dbfs/store", nil, "local"},
		{"a laptop, nothing configured", laptop(), "/dbfs/store", nil, "no Databricks workspace is configured"},
		{"a laptop without that disk", laptop(), "/Volumes/Backup/store", nil, "no mount of Databricks' file system at /Volumes"},
		{"a laptop with a workspace", laptop(), "/dbfs/store", configured, "rest"},
		{"a laptop with a workspace, a volume", laptop(), "/Volumes/c/s/v", configured, "rest"},
		{"a laptop with a workspace, no volume", laptop(), "/Volumes/c/s", configured, "/Volumes/<catalog>/<schema>/<volume>"},
		{"a cluster without the mount", onCluster, "/dbfs/store", cluster, "ordinary directory of this cluster"},
		{"an old cluster", onCluster, "/Volumes/c/s/v", cluster, "/Volumes/c is an ordinary directory of this cluster"},
		{"an old cluster with a workspace", onCluster, "/Volumes/c/s/v", append(cluster, configured...), "rest"},
		{"a cluster", mounted, "/dbfs/store", cluster, "mount"},
		{"a cluster with a workspace", mounted, "/Volumes/c/s/v", append(cluster, configured...), "mount"},
		{"a cluster that is told otherwise", byREST, "/Volumes/c/s/v", append(cluster, configured...), "rest"},
		{"a cluster that is told what it cannot", byREST, "/Volumes/c/s/v", cluster, "no Databricks workspace is configured"},
		{"the root of the mount", mounted, "/dbfs", cluster, "mount"},
		{"any other path", mounted, "/data/dbfs/x", cluster, "local"},
		{"a neighbour in name", mounted, "/dbfsx/y", cluster, "local"},
	} {
		s, err := openPlainOf(c.path, Options{Environ: c.environ}, c.here)
		got := "local"
		switch {
		case err != nil && errors.Is(err, ErrInvalid):
			got = err.Error()
		case err != nil:
			t.Errorf("%s: %v, want an error of kind ErrInvalid", c.name, err)
		case s != nil:
			got = map[bool]string{true: "mount", false: "rest"}[isMount(s)]
			if s.Scheme() != "dbfs" || !strings.HasPrefix(s.KeyURL("k"), "dbfs:/") {
				t.Errorf("%s: opened as %s", c.name, s.KeyURL("k"))
			}
			s.Close()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s is %q, want %q", c.name, c.path, got, c.want)
		}
	}
}

func isMount(s *Store) bool {
	_, ok := s.back.(*mountBackend)
	return ok
}

// TestMountByEnvironment wants HEIRLOOM_DBFS obeyed or refused.
func TestMountByEnvironment(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	opts := Options{DBFS: DBFSOptions{Mount: dir}, Environ: []string{"DATABRICKS_HOST=https://w.example", "DATABRICKS_TOKEN=x"}}
	for by, want := range map[string]string{"": "mount", "mount": "mount", "rest": "rest", "fuse": "known are mount and rest"} {
		here := dbfsHereOf(opts)
		here.by = by
		s, err := openDatabricks("/p", opts, here)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = map[bool]string{true: "mount", false: "rest"}[isMount(s)]
			s.Close()
		}
		if !strings.Contains(got, want) {
			t.Errorf("HEIRLOOM_DBFS=%s: %q, want %q", by, got, want)
		}
	}
	if here := dbfsHereOf(Options{Environ: []string{"HEIRLOOM_DBFS_MOUNT=" + dir}}); here.mount != dir {
		t.Errorf("the mount is %q, want %q", here.mount, dir)
	}
	if here := dbfsHereOf(Options{DBFS: DBFSOptions{Mount: dir}, Environ: []string{"HEIRLOOM_DBFS_MOUNT=/other"}}); here.mount != dir {
		t.Errorf("the mount is %q against the option, want %q", here.mount, dir)
	}
	if _, err := openDatabricks("/p", Options{}, dbfsHere{by: "mount"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a mount that is not there: %v", err)
	}
}
