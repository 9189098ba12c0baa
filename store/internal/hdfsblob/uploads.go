package hdfsblob

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// Upload is one that was begun and neither completed nor aborted.
type Upload struct {
	Key, Token string
	Begun      time.Time
	touched    time.Time // when its last part was begun or lost
}

// Unfinished lists the uploads whose key begins with prefix, sorted bytewise by key. Its memory is that of the list.
func (b *Bucket) Unfinished(ctx context.Context, prefix string) iter.Seq2[Upload, error] {
	return func(yield func(Upload, error) bool) {
		list, err := b.uploads(ctx)
		if err != nil {
			yield(Upload{}, err)
			return
		}
		for _, u := range list {
			if strings.HasPrefix(u.Key, prefix) && !yield(u, nil) {
				return
			}
		}
	}
}

func (b *Bucket) uploads(ctx context.Context) (list []Upload, err error) {
	err = b.with(ctx, "list", b.root, func(c *client) error {
		list = nil
		temps, err := c.temps()
		for _, t := range temps {
			if err != nil {
				return err
			}
			if t.GetFileType() != isDir {
				continue
			}
			u := Upload{Token: string(t.GetPath()), Begun: inodeOf(t).ModTime}
			if u.Key, u.touched, err = c.uploadOf(path.Join(b.root, u.Token), u.Begun); u.Key != "" {
				list = append(list, u)
			}
		}
		return err
	})
	slices.SortFunc(list, func(a, b Upload) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), a.Begun.Compare(b.Begun), cmp.Compare(a.Token, b.Token))
	})
	return list, err
}

// temps are the temporary files and the uploads of the bucket.
func (c *client) temps() (list []*hdfs.FileStatus, err error) {
	err = c.list(c.bucket.root, keyname.TempStart, func(status *hdfs.FileStatus) bool {
		name := string(status.GetPath())
		if keyname.IsTemp(name) {
			list = append(list, status)
		}
		return strings.HasPrefix(name, keyname.TempStart)
	})
	return list, err
}

// uploadOf follows the directories of an upload down to its parts. The key is "" if it has gone meanwhile.
func (c *client) uploadOf(dir string, begun time.Time) (key string, touched time.Time, err error) {
	var elems []string
	for touched = begun; ; {
		var next *hdfs.FileStatus
		err := c.list(dir, "", func(status *hdfs.FileStatus) bool {
			if status.GetFileType() == isDir {
				next = status
			}
			return false
		})
		if err != nil || next == nil {
			return strings.Join(elems, "/"), touched, err
		}
		touched = inodeOf(next).ModTime
		elems = append(elems, escape().Elem(string(next.GetPath())))
		dir = path.Join(dir, string(next.GetPath()))
	}
}
