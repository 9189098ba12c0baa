package dbfsblob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// maxBlock is how many bytes one request may carry, before they are written in base64.
const maxBlock = 1 << 20

// dbfs speaks the DBFS API.
type dbfs struct {
	client *client
	root   string
	block  int64 // maxBlock, less in tests
}

// fileInfo is what the API says of a path.
type fileInfo struct {
	Path     string `json:"path"`
	IsDir    bool   `json:"is_dir"`
	Size     int64  `json:"file_size"`
	Modified int64  `json:"modification_time"` // milliseconds since the Unix epoch
}

func (i fileInfo) object() dirtree.Object {
	modified := time.UnixMilli(i.Modified)
	return dirtree.Object{Size: i.Size, ModTime: modified, Version: timeVersion(modified, i.Size)}
}

func (d *dbfs) get(ctx context.Context, verb string, query url.Values, out any) error {
	return d.client.call(ctx, request{method: http.MethodGet, path: "/api/2.0/dbfs/" + verb, query: query}, nil, out)
}

func (d *dbfs) post(ctx context.Context, verb string, in, out any) error {
	return d.client.call(ctx, request{method: http.MethodPost, path: "/api/2.0/dbfs/" + verb}, in, out)
}

// status describes a file or directory.
func (d *dbfs) status(ctx context.Context, p string) (fileInfo, error) {
	var info fileInfo
	err := d.get(ctx, "get-status", url.Values{"path": {p}}, &info)
	return info, err
}

func (d *dbfs) stat(ctx context.Context, file string) (dirtree.Object, error) {
	info, err := d.status(ctx, file)
	if err != nil {
		return dirtree.Object{}, err
	}
	if info.IsDir {
		return dirtree.Object{}, &dirtree.Error{Kind: fs.ErrNotExist, Err: errors.New("it is a directory")}
	}
	return info.object(), nil
}

func (d *dbfs) list(ctx context.Context, dir string) ([]dirtree.Name, error) {
	var page struct {
		Files []fileInfo `json:"files"`
	}
	err := d.get(ctx, "list", url.Values{"path": {dir}}, &page)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []dirtree.Name
	for _, info := range page.Files {
		if info.Path == dir {
			continue // dir is a file, which lists itself
		}
		n := dirtree.Name{Elem: path.Base(info.Path), IsDir: info.IsDir}
		if !n.IsDir {
			n.Object = info.object()
		}
		list = append(list, n)
	}
	return list, nil
}

type pathAndRecursion struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

// remove looks first: the API deletes what is not there without a word.
func (d *dbfs) remove(ctx context.Context, file string) error {
	if _, err := d.stat(ctx, file); err != nil {
		return err
	}
	return d.post(ctx, "delete", pathAndRecursion{Path: file}, nil)
}

// removeDir looks first, so as not to delete an object that took the name.
func (d *dbfs) removeDir(ctx context.Context, dir string) error {
	info, err := d.status(ctx, dir)
	if err == nil && !info.IsDir {
		err = fs.ErrInvalid
	}
	if err != nil {
		return err
	}
	return d.post(ctx, "delete", pathAndRecursion{Path: dir}, nil)
}

func (d *dbfs) open(ctx context.Context, file string, offset, length int64, version string) (io.ReadCloser, dirtree.Object, error) {
	o, err := d.stat(ctx, file)
	switch {
	case err != nil:
		return nil, dirtree.Object{}, err
	case version != "" && version != o.Version:
		return nil, dirtree.Object{}, &dirtree.Error{Kind: dirtree.ErrConflict}
	case offset > o.Size:
		return nil, dirtree.Object{}, &dirtree.Error{Kind: dirtree.ErrRange}
	}
	end := o.Size
	if length >= 0 {
		end = min(end, offset+length)
	}
	r := &blockReader{ctx: ctx, api: d, file: file, object: o, at: offset, end: end}
	if err := r.next(); err != nil { // so that what fails at once fails Open
		return nil, dirtree.Object{}, err
	}
	return r, o, nil
}
