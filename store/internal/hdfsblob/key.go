package hdfsblob

import "github.com/heirloom-ml/heirloom/store/internal/keyname"

// pathOf returns the slash-separated path of key, relative to the directory.
func pathOf(key string) string { return escape().Path(key) }

// escape is for what cannot be a name in HDFS: one that it reserves, one of our temporary files, one with a colon.
func escape() keyname.Escape {
	return keyname.Escape{
		Reserved: func(elem string) bool { return elem == ".snapshot" || elem == ".reserved" || keyname.IsTemp(elem) },
		Unsafe:   func(elem string, i int) bool { return elem[i] == ':' },
	}
}
