package dataset

import "strings"

// IsData tells whether a file or directory name counts as data, by Spark's rule
// (HadoopFSUtils.shouldFilterOutPathName): not what begins with "_", unless it
// holds "=", nor with ".", nor ends in "._COPYING_". The summaries _metadata and
// _common_metadata, which Spark lists as well, hold no rows and count as none.
func IsData(name string) bool {
	switch {
	case strings.HasPrefix(name, "_") && !strings.Contains(name, "="):
		return false
	case strings.HasPrefix(name, "_metadata"), strings.HasPrefix(name, "_common_metadata"):
		return false
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "._COPYING_"):
		return false
	}
	return true
}
