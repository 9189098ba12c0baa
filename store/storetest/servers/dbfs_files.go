package servers

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

const filesPage = 1000 // entries of one page of a directory

// inVolume wants an absolute path in the one volume.
func inVolume(w http.ResponseWriter, p string) bool {
	if path.Clean(p) != strings.TrimSuffix(p, "/") {
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "no clean path: "+p)
		return false
	}
	if p != volumeRoot && !strings.HasPrefix(p, volumeRoot+"/") {
		refuse(w, http.StatusNotFound, "NOT_FOUND", "no volume at "+p)
		return false
	}
	return true
}

func (d *Databricks) serveFile(w http.ResponseWriter, r *http.Request, p string) {
	if !inVolume(w, p) {
		return
	}
	n, there := d.tree.get(p)
	switch {
	case r.Method == http.MethodPut:
		d.upload(w, r, p)
	case !there || n.isDir:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "The file being accessed is not found.")
	case r.Method == http.MethodDelete:
		d.tree.remove(p)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", n.modified, bytes.NewReader(n.data))
	}
}

// upload takes the body whole before it shows any of it.
func (d *Databricks) upload(w http.ResponseWriter, r *http.Request, p string) {
	if r.ContentLength > maxUpload {
		refuse(w, http.StatusRequestEntityTooLarge, "", "more than 5 GiB")
		return
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "BAD_REQUEST", "the body broke off")
		return
	}
	d.mu.Lock()
	strict := d.strict
	d.mu.Unlock()
	switch d.tree.put(p, data, r.URL.Query().Get("overwrite") != "false", strict, d.clock()) {
	case exists:
		refuse(w, http.StatusConflict, "ALREADY_EXISTS", "The file being created already exists.")
	case absent:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "The directory being accessed is not found.")
	case inTheWay:
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "a directory or a file is in the way")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (d *Databricks) serveDirectory(w http.ResponseWriter, r *http.Request, p string) {
	if p = strings.TrimSuffix(p, "/"); !inVolume(w, p) {
		return
	}
	n, there := d.tree.get(p)
	switch {
	case r.Method == http.MethodPut:
		if !d.tree.mkdirs(p, d.clock()) {
			refuse(w, http.StatusConflict, "ALREADY_EXISTS", "a file is in the way")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case !there || !n.isDir:
		refuse(w, http.StatusNotFound, "NOT_FOUND", "The directory being accessed is not found.")
	case r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodGet:
		d.listDirectory(w, r, p)
	case d.tree.remove(p) == notEmpty:
		refuse(w, http.StatusBadRequest, "BAD_REQUEST", "The directory is not empty.", "FILES_API_DIRECTORY_IS_NOT_EMPTY")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// listDirectory gives one page. The token is the name after which the next begins, made opaque.
func (d *Databricks) listDirectory(w http.ResponseWriter, r *http.Request, p string) {
	size, err := strconv.Atoi(r.URL.Query().Get("page_size"))
	if err != nil || size <= 0 || size > filesPage {
		size = filesPage
	}
	after, err := base64.URLEncoding.DecodeString(r.URL.Query().Get("page_token"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "the page token is not valid")
		return
	}
	names, nodes := d.tree.list(p)
	page, contents := map[string]any{}, []any{}
	for _, child := range names {
		if len(after) > 0 && child >= string(after) {
			continue // the order is backwards
		}
		if len(contents) == size {
			last := contents[size-1].(map[string]any)["path"].(string)
			page["next_page_token"] = base64.URLEncoding.EncodeToString([]byte(last))
			break
		}
		entry := map[string]any{"path": child, "name": path.Base(child), "is_directory": nodes[child].isDir}
		if !nodes[child].isDir {
			entry["file_size"], entry["last_modified"] = len(nodes[child].data), nodes[child].modified.UnixMilli()
		}
		contents = append(contents, entry)
	}
	page["contents"] = contents
	answer(w, page)
}
