package dbfsblob

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// dialect is one of the two APIs. Paths are absolute; a method may take several requests, and its errors are *dirtree.Errors
// without verb and path, or those of a context.
type dialect interface {
	// stat is fs.ErrNotExist for a directory too.
	stat(ctx context.Context, file string) (dirtree.Object, error)
	// open reads length bytes, to the end if length < 0, of the version, of any if it is "".
	open(ctx context.Context, file string, offset, length int64, version string) (io.ReadCloser, dirtree.Object, error)
	write(ctx context.Context, file string, body []byte, mode dirtree.Mode) error
	// stream writes all of r, or nothing if reading it fails, and returns the bytes.
	stream(ctx context.Context, file string, r io.Reader, mode dirtree.Mode) (int64, error)
	// list gives what lies right below dir, as it is stored, in no order; nothing if there is no such directory.
	list(ctx context.Context, dir string) ([]dirtree.Name, error)
	// remove is fs.ErrNotExist if there is nothing, or a directory.
	remove(ctx context.Context, file string) error
	// removeDir fails if the directory is not empty.
	removeDir(ctx context.Context, dir string) error
}

// Bucket is a directory of objects in DBFS or a volume. It is safe for concurrent use.
type Bucket struct {
	dirtree.Driver

	root   string
	client *client
	api    dialect

	mu    sync.Mutex // guards swept
	swept bool
}

// Open returns the bucket of the directory root, an absolute path of DBFS, which is one of a volume if it begins with
// /Volumes/. It contacts nothing; the directory appears with the first write. The caller closes the bucket.
func Open(root string, c Config) (*Bucket, error) {
	host, err := cleanHost(c.Host)
	if err != nil {
		return nil, wrap("open", root, err)
	}
	c.Host = host
	b := &Bucket{root: path.Clean("/" + root), client: newClient(c)}
	if IsVolume(b.root) {
		b.api = &volume{client: b.client, root: b.root}
		return b, checkVolume(b.root)
	}
	b.api = &dbfs{client: b.client, root: b.root, block: maxBlock}
	return b, nil
}

// IsVolume reports whether the absolute path lies in a volume of the Unity Catalog.
func IsVolume(p string) bool { return p == "/Volumes" || strings.HasPrefix(p, "/Volumes/") }

// checkVolume refuses what lies above a volume, where no files can be.
func checkVolume(p string) error {
	if strings.Count(p, "/") >= 4 {
		return nil
	}
	return wrap("open", p, fmt.Errorf("a volume is named /Volumes/<catalog>/<schema>/<volume>: %w", fs.ErrInvalid))
}

// Host is the address of the workspace, https://name.
func (b *Bucket) Host() string { return b.client.host }

// Dir is the absolute path of the bucket's directory.
func (b *Bucket) Dir() string { return b.root }

// Path is the absolute path of the file that holds key, whether or not it exists.
func (b *Bucket) Path(key string) string { return path.Join(b.root, escape().Path(key)) }

// Volume reports whether the bucket lies in a volume.
func (b *Bucket) Volume() bool { return IsVolume(b.root) }

// Close gives up the idle connections. It may be called again.
func (b *Bucket) Close() error {
	b.client.close()
	return nil
}

// attrsDir is the directory of attributes.
const attrsDir = ".heirloom-attrs"

// escape is for what cannot be a name: one of our own files; a colon or backslash, which Hadoop's paths and Azure's
// blobs take for something else; and a dot at the end, which Azure drops.
func escape() keyname.Escape {
	return keyname.Escape{
		Reserved: func(elem string) bool { return keyname.IsTemp(elem) || elem == attrsDir },
		Unsafe: func(elem string, i int) bool {
			return elem[i] == ':' || elem[i] == '\\' || elem[i] == '.' && i == len(elem)-1
		},
	}
}

// timeVersion tells versions apart as far as time and size can.
func timeVersion(modified time.Time, size int64) string {
	return fmt.Sprintf("%x-%x", modified.UnixMilli(), size)
}
