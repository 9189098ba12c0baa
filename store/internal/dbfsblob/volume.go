package dbfsblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const (
	filesPath       = "/api/2.0/fs/files"
	directoriesPath = "/api/2.0/fs/directories"
)

// volume speaks the Files API.
type volume struct {
	client *client
	root   string
}

func (v *volume) stat(ctx context.Context, file string) (dirtree.Object, error) {
	response, err := v.client.do(ctx, request{method: http.MethodHead, path: filesPath + file})
	if err != nil {
		return dirtree.Object{}, err
	}
	response.Body.Close()
	return described(response, response.ContentLength)
}

// described reads what the headers say of a file. Their time is in seconds, so two writes of the same size within one
// are one version.
func described(response *http.Response, size int64) (dirtree.Object, error) {
	modified, err := http.ParseTime(response.Header.Get("Last-Modified"))
	if err != nil || size < 0 {
		return dirtree.Object{}, &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: errors.New("the answer tells no size or time")}
	}
	return dirtree.Object{Size: size, ModTime: modified, Version: timeVersion(modified, size)}, nil
}

func (v *volume) open(ctx context.Context, file string, offset, length int64, version string) (io.ReadCloser, dirtree.Object, error) {
	response, err := v.client.do(ctx, request{method: http.MethodGet, path: filesPath + file, header: rangeHeader(offset, length)})
	if err != nil {
		return nil, dirtree.Object{}, err
	}
	o, err := v.opened(ctx, file, response)
	if err == nil && version != "" && version != o.Version {
		err = &dirtree.Error{Kind: dirtree.ErrConflict}
	}
	if err == nil && response.StatusCode != http.StatusPartialContent && offset > 0 {
		_, err = io.CopyN(io.Discard, response.Body, offset) // the range was not obeyed
		if errors.Is(err, io.EOF) {
			err = &dirtree.Error{Kind: dirtree.ErrRange}
		}
	}
	if err != nil {
		response.Body.Close()
		return nil, dirtree.Object{}, err
	}
	body := io.Reader(response.Body)
	if length >= 0 {
		body = io.LimitReader(body, length)
	}
	return &fileBody{body, response.Body}, o, nil
}

func (v *volume) opened(ctx context.Context, file string, response *http.Response) (dirtree.Object, error) {
	if response.StatusCode != http.StatusPartialContent {
		return described(response, response.ContentLength)
	}
	_, total, _ := strings.Cut(response.Header.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return v.stat(ctx, file) // the header is not promised
	}
	return described(response, size)
}

// rangeHeader is empty for the whole file.
func rangeHeader(offset, length int64) map[string]string {
	switch {
	case offset == 0 && length < 0:
		return nil
	case length < 0:
		return map[string]string{"Range": fmt.Sprintf("bytes=%d-", offset)}
	}
	return map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)}
}

// fileBody tells a connection that broke.
type fileBody struct {
	io.Reader
	io.Closer
}

func (b *fileBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = unread(err)
	}
	return n, err
}

func (v *volume) write(ctx context.Context, file string, body []byte, mode dirtree.Mode) error {
	r := upload(file, mode)
	r.body = body
	if body == nil {
		r.body = []byte{} // an empty file, with a length
	}
	err := v.put(ctx, r)
	if !errors.Is(err, fs.ErrNotExist) {
		return v.inTheWay(ctx, file, err)
	}
	// The API does not say whether it makes the directory of a file.
	if err := v.makeDir(ctx, path.Dir(file)); err != nil {
		return err
	}
	return v.inTheWay(ctx, file, v.put(ctx, r))
}

// stream sends the file as one request, so that the far side sees its end or drops it; then it checks the size.
func (v *volume) stream(ctx context.Context, file string, r io.Reader, mode dirtree.Mode) (int64, error) {
	if err := v.makeDir(ctx, path.Dir(file)); err != nil {
		return 0, err // a stream cannot be sent twice
	}
	sent := &source{r: r}
	up := upload(file, mode)
	up.stream = sent
	if err := v.put(ctx, up); err != nil {
		return 0, v.inTheWay(ctx, file, err)
	}
	o, err := v.stat(ctx, file)
	if err == nil && mode == dirtree.Create && o.Size != sent.size {
		err = &dirtree.Error{Kind: dirtree.ErrCorrupt, Err: fmt.Errorf("the workspace holds %d bytes of %d", o.Size, sent.size)}
	}
	return sent.size, err
}

func upload(file string, mode dirtree.Mode) request {
	return request{
		method: http.MethodPut, path: filesPath + file,
		query:  url.Values{"overwrite": {strconv.FormatBool(mode == dirtree.Replace)}},
		header: map[string]string{"Content-Type": "application/octet-stream"},
	}
}

func (v *volume) put(ctx context.Context, r request) error {
	response, err := v.client.do(ctx, r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// inTheWay tells whether a directory has the name, or a file that of a directory, which the API answers in ways of its own.
func (v *volume) inTheWay(ctx context.Context, file string, refused error) error {
	e, ok := errors.AsType[*dirtree.Error](refused)
	status := statusOf(refused)
	if !ok || status < 400 || status >= 500 || errors.Is(e.Kind, fs.ErrPermission) || status == http.StatusTooManyRequests {
		return refused
	}
	if errors.Is(e.Kind, fs.ErrExist) {
		if _, err := v.stat(ctx, file); err == nil {
			return refused
		}
	}
	if v.statDir(ctx, file) == nil {
		return &dirtree.Error{Kind: fs.ErrInvalid, Err: fmt.Errorf("%w; %w", syscall.EISDIR, e.Err)}
	}
	for dir := range dirtree.Above(path.Dir(file), v.root) {
		if _, err := v.stat(ctx, dir); err == nil {
			return &dirtree.Error{Kind: fs.ErrInvalid, Err: fmt.Errorf("%s: %w; %w", dir, syscall.ENOTDIR, e.Err)}
		}
	}
	return refused
}

func (v *volume) statDir(ctx context.Context, dir string) error {
	response, err := v.client.do(ctx, request{method: http.MethodHead, path: directoriesPath + dir})
	if err == nil {
		err = response.Body.Close()
	}
	return err
}

// makeDir makes a directory and what is missing above it. One that exists is no error.
func (v *volume) makeDir(ctx context.Context, dir string) error {
	err := v.client.call(ctx, request{method: http.MethodPut, path: directoriesPath + dir}, nil, nil)
	return v.inTheWay(ctx, path.Join(dir, "-"), err)
}

func (v *volume) list(ctx context.Context, dir string) ([]dirtree.Name, error) {
	var list []dirtree.Name
	for token := ""; ; {
		var page struct {
			Contents []struct {
				Name         string `json:"name"`
				Path         string `json:"path"`
				IsDirectory  bool   `json:"is_directory"`
				FileSize     int64  `json:"file_size"`
				LastModified int64  `json:"last_modified"` // milliseconds since the Unix epoch
			} `json:"contents"`
			Next string `json:"next_page_token"`
		}
		r := request{method: http.MethodGet, path: directoriesPath + dir}
		if token != "" {
			r.query = url.Values{"page_token": {token}}
		}
		err := v.client.call(ctx, r, nil, &page)
		if errors.Is(err, fs.ErrNotExist) && token == "" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, c := range page.Contents {
			n := dirtree.Name{Elem: path.Base(c.Path), IsDir: c.IsDirectory}
			if !n.IsDir {
				modified := time.UnixMilli(c.LastModified).Truncate(time.Second) // as HEAD tells it
				n.Object = dirtree.Object{Size: c.FileSize, ModTime: modified, Version: timeVersion(modified, c.FileSize)}
			}
			list = append(list, n)
		}
		if token = page.Next; token == "" {
			return list, nil
		}
	}
}

func (v *volume) remove(ctx context.Context, file string) error {
	return v.client.call(ctx, request{method: http.MethodDelete, path: filesPath + file}, nil, nil)
}

func (v *volume) removeDir(ctx context.Context, dir string) error {
	return v.client.call(ctx, request{method: http.MethodDelete, path: directoriesPath + dir}, nil, nil)
}
