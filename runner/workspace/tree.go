package workspace

import (
	"io/fs"

	"github.com/heirloom-ml/heirloom/store"
)

// Kind says what an entry is.
type Kind string

// The kinds.
const (
	File Kind = "file"
	Dir  Kind = "dir"
	Link Kind = "link"
)

// Entry is one file, directory or symbolic link of a tree. The root has none.
type Entry struct {
	Path   string // relative, with slashes, clean
	Kind   Kind
	Mode   fs.FileMode  // the nine permission bits; 0 of a link
	Size   int64        // bytes; of a file
	SHA256 store.Digest // of a file
	Target string       // of a link, as it was read; it may lead anywhere, or nowhere
}

// Tree is what a directory holds. It is made by [Scan], [Load] and [Restore]. Times,
// owners, extended attributes and hard links are no part of it.
type Tree struct {
	Entries []Entry      // sorted by path, bytewise
	Digest  store.Digest // of the manifest, and so of all there is
	Files   int          // regular files
	Bytes   int64        // of all files, also of equal ones

	root     string // where it was scanned
	manifest []byte
}

// treesDir and objectsDir are where trees are kept in a store.
const (
	treesDir   = "workspaces/trees"
	objectsDir = "workspaces/objects"
)

// Key is where the manifest of a tree is kept in a store.
func Key(digest store.Digest) store.Key {
	return (store.Layout{}).Heirloom().Join(treesDir, string(digest)+".json")
}

// objectKey is where the content of a file is kept.
func objectKey(digest store.Digest) store.Key {
	return (store.Layout{}).Heirloom().Join(objectsDir, string(digest[:2]), string(digest))
}
