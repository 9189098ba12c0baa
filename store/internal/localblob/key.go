package localblob

import "github.com/heirloom-ml/heirloom/store/internal/keyname"

// pathOf returns the slash-separated path of key, relative to the directory; it never leads out of it.
func pathOf(key string) string { return escape().Path(key) }

// keyOf reverses pathOf.
func keyOf(path string) string { return escape().Key(path) }

// escape is for what cannot be a file name.
func escape() keyname.Escape {
	return keyname.Escape{
		Reserved: func(elem string) bool { return keyname.IsTemp(elem) || isReserved(elem) },
		Unsafe:   isUnsafe,
	}
}
