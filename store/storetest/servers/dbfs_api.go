package servers

import (
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// openFile is a handle.
type openFile struct {
	path string
	used time.Time
}

// dbfsRequest holds what any verb of the DBFS API may be told.
type dbfsRequest struct {
	Path        string `json:"path"`
	Source      string `json:"source_path"`
	Destination string `json:"destination_path"`
	Contents    string `json:"contents"`
	Data        string `json:"data"`
	Handle      int64  `json:"handle"`
	Overwrite   bool   `json:"overwrite"`
	Recursive   bool   `json:"recursive"`
	offset      int64
	length      int64
}

func (d *Databricks) serveDBFS(w http.ResponseWriter, r *http.Request, verb string) {
	q, err := readRequest(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "MALFORMED_REQUEST", err.Error())
		return
	}
	for _, p := range []string{q.Path, q.Source, q.Destination} {
		if p != "" && (!strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.HasPrefix(p, "/Volumes/")) {
			refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "no absolute path of DBFS: "+p)
			return
		}
	}
	for name, do := range map[string]func(http.ResponseWriter, dbfsRequest){
		"GET get-status": d.getStatus, "GET list": d.list, "GET read": d.read,
		"POST put": d.put, "POST create": d.create, "POST add-block": d.addBlock, "POST close": d.closeHandle,
		"POST move": d.move, "POST mkdirs": d.mkdirs, "POST delete": d.delete,
	} {
		if name == r.Method+" "+verb {
			do(w, q)
			return
		}
	}
	refuse(w, http.StatusNotFound, "ENDPOINT_NOT_FOUND", r.Method+" "+verb)
}

func readRequest(r *http.Request) (q dbfsRequest, err error) {
	if r.Method == http.MethodPost {
		return q, json.NewDecoder(r.Body).Decode(&q)
	}
	q.Path, q.length = r.URL.Query().Get("path"), maxBlock/2
	for name, to := range map[string]*int64{"offset": &q.offset, "length": &q.length} {
		if text := r.URL.Query().Get(name); text != "" {
			n, bad := strconv.ParseInt(text, 10, 64)
			*to, err = n, errors.Join(err, bad)
		}
	}
	return q, err
}

func describe(p string, n node) map[string]any {
	return map[string]any{"path": p, "is_dir": n.isDir, "file_size": len(n.data), "modification_time": n.modified.UnixMilli()}
}

func missing(w http.ResponseWriter, p string) {
	refuse(w, http.StatusNotFound, "RESOURCE_DOES_NOT_EXIST", "No file or directory exists on path "+p+".")
}

func taken(w http.ResponseWriter, p string) {
	refuse(w, http.StatusBadRequest, "RESOURCE_ALREADY_EXISTS", "A file or directory already exists at the input path "+p+".")
}

func (d *Databricks) getStatus(w http.ResponseWriter, q dbfsRequest) {
	n, ok := d.tree.get(q.Path)
	if !ok {
		missing(w, q.Path)
		return
	}
	answer(w, describe(q.Path, n))
}

func (d *Databricks) list(w http.ResponseWriter, q dbfsRequest) {
	n, ok := d.tree.get(q.Path)
	switch {
	case !ok:
		missing(w, q.Path)
		return
	case !n.isDir:
		answer(w, map[string]any{"files": []any{describe(q.Path, n)}})
		return
	}
	names, nodes := d.tree.list(q.Path)
	files := []any{}
	for _, p := range names {
		files = append(files, describe(p, nodes[p]))
	}
	if len(files) == 0 {
		answer(w, map[string]any{}) // as the API does
		return
	}
	answer(w, map[string]any{"files": files})
}

func (d *Databricks) read(w http.ResponseWriter, q dbfsRequest) {
	n, ok := d.tree.get(q.Path)
	switch {
	case !ok:
		missing(w, q.Path)
		return
	case q.length > maxBlock:
		refuse(w, http.StatusBadRequest, "MAX_READ_SIZE_EXCEEDED", "more than 1 MB")
		return
	case n.isDir || q.offset < 0 || q.length < 0:
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "a directory, or a negative offset or length")
		return
	}
	size := int64(len(n.data))
	data := n.data[min(q.offset, size):min(q.offset+q.length, size)]
	answer(w, map[string]any{"bytes_read": len(data), "data": data})
}

func (d *Databricks) put(w http.ResponseWriter, q dbfsRequest) {
	data, fits, err := decode64(q.Contents)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "MALFORMED_REQUEST", err.Error())
	case !fits:
		refuse(w, http.StatusBadRequest, "MAX_BLOCK_SIZE_EXCEEDED", "more than 1 MB")
	case d.tree.put(q.Path, data, q.Overwrite, false, d.clock()) != done:
		taken(w, q.Path)
	default:
		answer(w, map[string]any{})
	}
}

func (d *Databricks) create(w http.ResponseWriter, q dbfsRequest) {
	if d.tree.put(q.Path, nil, q.Overwrite, false, d.clock()) != done {
		taken(w, q.Path)
		return
	}
	d.mu.Lock()
	d.last++
	h := d.last
	d.handles[h] = &openFile{path: q.Path, used: d.now()}
	d.mu.Unlock()
	answer(w, map[string]any{"handle": h})
}

// handle is an open file that was used of late.
func (d *Databricks) handle(h int64) (openFile, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.handles[h]
	if !ok || d.now().Sub(f.used) > handleIdle {
		delete(d.handles, h)
		return openFile{}, false
	}
	f.used = d.now()
	return *f, true
}

func (d *Databricks) addBlock(w http.ResponseWriter, q dbfsRequest) {
	f, ok := d.handle(q.Handle)
	data, fits, err := decode64(q.Data)
	switch {
	case !ok:
		missing(w, "the handle")
	case err != nil:
		refuse(w, http.StatusBadRequest, "MALFORMED_REQUEST", err.Error())
	case !fits:
		refuse(w, http.StatusBadRequest, "MAX_BLOCK_SIZE_EXCEEDED", "more than 1 MB")
	default:
		d.tree.grow(f.path, data, d.clock())
		answer(w, map[string]any{})
	}
}

func (d *Databricks) closeHandle(w http.ResponseWriter, q dbfsRequest) {
	if _, ok := d.handle(q.Handle); !ok {
		missing(w, "the handle")
		return
	}
	d.mu.Lock()
	delete(d.handles, q.Handle)
	d.mu.Unlock()
	answer(w, map[string]any{})
}

func (d *Databricks) move(w http.ResponseWriter, q dbfsRequest) {
	switch d.tree.move(q.Source, q.Destination) {
	case exists:
		taken(w, q.Destination)
	case absent:
		missing(w, q.Source+" or the directory of "+q.Destination)
	case inTheWay:
		refuse(w, http.StatusBadRequest, "IO_ERROR", "the parent is a file")
	default:
		answer(w, map[string]any{})
	}
}

func (d *Databricks) mkdirs(w http.ResponseWriter, q dbfsRequest) {
	if !d.tree.mkdirs(q.Path, d.clock()) {
		taken(w, q.Path)
		return
	}
	answer(w, map[string]any{})
}

func (d *Databricks) delete(w http.ResponseWriter, q dbfsRequest) {
	if d.tree.remove(q.Path) == notEmpty { // nobody here deletes recursively
		refuse(w, http.StatusBadRequest, "IO_ERROR", "the directory is not empty")
		return
	}
	answer(w, map[string]any{})
}

func (d *Databricks) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now()
}
