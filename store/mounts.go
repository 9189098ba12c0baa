package store

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/dbfsblob"
)

// dbfsHere is what this machine has of Databricks.
type dbfsHere struct {
	mount   string                 // Options.DBFS.Mount, or HEIRLOOM_DBFS_MOUNT
	mounts  []fsMount              // all of the system
	isDir   func(path string) bool // of the local file system
	runtime bool                   // a cluster of Databricks, which says so in DATABRICKS_RUNTIME_VERSION
	by      string                 // HEIRLOOM_DBFS
}

// fsMount is one line of the system's table of mounts.
type fsMount struct{ point, kind string }

func dbfsHereOf(opts Options) dbfsHere {
	s := &Store{core: &core{opts: opts}}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		table = nil // a system without one has no mount of Databricks
	}
	return dbfsHere{
		mount: cmp.Or(opts.DBFS.Mount, s.environ("HEIRLOOM_DBFS_MOUNT")), mounts: readMounts(string(table)), isDir: isDirectory,
		runtime: s.environ("DATABRICKS_RUNTIME_VERSION") != "", by: s.environ("HEIRLOOM_DBFS"),
	}
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readMounts reads the form of /proc/self/mountinfo (proc(5)): the mount point is the fifth
// field, and the type of the file system the first behind a lone "-".
func readMounts(table string) []fsMount {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var list []fsMount
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 5 || dash+1 >= len(fields) {
			continue
		}
		list = append(list, fsMount{unescape.Replace(fields[4]), fields[dash+1]})
	}
	return list
}

// mountPoint is where Databricks mounts what holds the path of DBFS.
func mountPoint(p string) string {
	if dbfsblob.IsVolume(p) {
		return "/Volumes"
	}
	return "/dbfs"
}

// mountOf is the directory of a path of DBFS below its mount, if it is there. That a directory
// exists is not enough: an old cluster keeps what is written to /Volumes on a disk that
// ends with it. The mount is one of FUSE; on a cluster it may be of any kind.
func (h dbfsHere) mountOf(p string) (dir string, ok bool) {
	if h.mount != "" {
		return filepath.Join(h.mount, filepath.FromSlash(p)), true
	}
	top := mountPoint(p)
	dir = p
	if top == "/dbfs" {
		dir = strings.TrimSuffix(top+p, "/")
	}
	covering := fsMount{}
	for _, m := range h.mounts {
		if isBelow(dir, m.point) && len(m.point) >= len(covering.point) {
			covering = m // of two on one point the later hides the earlier
		}
	}
	return dir, isBelow(covering.point, top) && (strings.HasPrefix(covering.kind, "fuse") || h.runtime)
}

func isBelow(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// databricksPath is the path of DBFS that a plain path means where it is mounted.
func databricksPath(full string) (string, bool) {
	if rest, ok := strings.CutPrefix(full, "/dbfs"); ok && (rest == "" || rest[0] == '/') {
		return "/" + strings.TrimPrefix(rest, "/"), true
	}
	return full, strings.HasPrefix(full, "/Volumes/")
}

// ordinaryDir is the directory whose presence makes a path an ordinary one, unless a mount
// covers it: /dbfs, or the first one below /Volumes, as a disk on macOS.
func ordinaryDir(p string) string {
	rest, ok := strings.CutPrefix(p, "/Volumes/")
	if !ok {
		return "/dbfs"
	}
	first, _, _ := strings.Cut(rest, "/")
	return "/Volumes/" + first
}
