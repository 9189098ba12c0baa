package lineage

import "github.com/heirloom-ml/heirloom/store"

// notFound is the error of kind ErrNotExist about a node.
func notFound(id string, cause error) error {
	return &store.Error{Op: "find", Key: id, Kind: store.ErrNotExist, Err: cause}
}
