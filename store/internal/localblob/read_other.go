//go:build !linux

package localblob

import (
	"os"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// These have no form of their own here; package os serves.

func (b *Bucket) readDirBelow(*os.Root, *os.File, string) ([]dirtree.Name, bool) { return nil, false }

func readBelow(*os.File, string) ([]byte, bool) { return nil, false }

func existsBelow(*os.File, string) (exists, ok bool) { return false, false }
