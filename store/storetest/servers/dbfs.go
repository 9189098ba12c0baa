package servers

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Databricks is a stand-in for the file system of a Databricks workspace: the DBFS API 2.0, the Files API 2.0 with one
// volume, and tokens of both kinds. No free server speaks these, so it is written from their public description
// (docs.databricks.com/api, and what Databricks' own open clients expect) and has never been compared with a real
// workspace. Where the description leaves a choice it takes the one that is harder for a client: a file that is written
// by a handle is visible at once and in part; a move wants the directory to exist and moves into a directory; listings
// come in no useful order.
type Databricks struct {
	Host, Token            string
	ClientID, ClientSecret string   // of a service principal
	Environ                []string // what a child process needs, as "NAME=value", with the token

	tree   *tree
	server *httptest.Server

	mu      sync.Mutex // guards what follows
	inject  func(r *http.Request) *Fault
	issued  map[string]bool // tokens of OAuth that are valid
	tokens  int
	handles map[int64]*openFile
	last    int64
	strict  bool
	now     func() time.Time
}

// Fault is what a request meets instead of its answer.
type Fault struct {
	Status     int    // of the answer, 0 to break the connection
	Code       string // error_code of the answer
	RetryAfter string // header of the answer, "" for none
	Applied    bool   // the request is done before it meets the fault
}

const (
	volumeRoot    = "/Volumes/main/default/vol"
	handleIdle    = 10 * time.Minute
	maxBlock      = 1 << 20
	maxUpload     = 5 << 30
	tokenLifetime = time.Hour
)

// DBFS starts the stand-in within this process, empty but for its volume, until the test ends, and sets the DATABRICKS_
// variables of this process to it for that time.
func DBFS(t testing.TB) *Databricks {
	t.Helper()
	d := &Databricks{
		Token: "dapi-test-0123456789", ClientID: "test-client", ClientSecret: "test-client-secret",
		tree: newTree(), issued: map[string]bool{}, handles: map[int64]*openFile{}, now: time.Now,
	}
	d.tree.mkdirs(volumeRoot, time.Now())
	d.server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.server.Close)
	d.Host = d.server.URL
	for _, v := range [][2]string{
		{"DATABRICKS_HOST", d.Host}, {"DATABRICKS_TOKEN", d.Token}, {"DATABRICKS_CLIENT_ID", ""}, {"DATABRICKS_CLIENT_SECRET", ""},
		{"DATABRICKS_CONFIG_PROFILE", ""}, {"DATABRICKS_CONFIG_FILE", filepath.Join(t.TempDir(), "none")},
		{"DATABRICKS_RUNTIME_VERSION", ""}, {"HEIRLOOM_DBFS", ""}, {"HEIRLOOM_DBFS_MOUNT", ""},
	} {
		t.Setenv(v[0], v[1])
		d.Environ = append(d.Environ, v[0]+"="+v[1])
	}
	t.Logf("DBFS: a stand-in written from the public API, not Databricks itself, at %s", d.Host)
	return d
}

// URL is the address of a store in DBFS below prefix, which may be empty.
func (d *Databricks) URL(prefix string) string { return "dbfs:/" + prefix }

// VolumeURL is the address of a store in the volume below prefix, which may be empty.
func (d *Databricks) VolumeURL(prefix string) string {
	return "dbfs:" + strings.TrimSuffix(volumeRoot+"/"+prefix, "/")
}

// Inject has f look at every request before it is served; nil is no fault.
func (d *Databricks) Inject(f func(r *http.Request) *Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inject = f
}

// WantParents has uploads to a volume fail where the directory is missing, which the public API leaves open.
func (d *Databricks) WantParents() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strict = true
}

// ExpireTokens ends all tokens of OAuth.
func (d *Databricks) ExpireTokens() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.issued)
}

// TokensIssued is how many tokens of OAuth were given out.
func (d *Databricks) TokensIssued() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tokens
}

// Idle lets all handles be unused for longer than the workspace keeps them.
func (d *Databricks) Idle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	later := d.now().Add(handleIdle + time.Second)
	d.now = func() time.Time { return later }
}

// Files are the absolute paths of all files, sorted.
func (d *Databricks) Files() []string { return d.tree.files() }

func (d *Databricks) serve(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	inject := d.inject
	d.mu.Unlock()
	if inject != nil {
		if f := inject(r); f != nil {
			d.fail(w, r, *f)
			return
		}
	}
	d.route(w, r)
}

// fail answers with a fault, or not at all.
func (d *Databricks) fail(w http.ResponseWriter, r *http.Request, f Fault) {
	if f.Applied {
		d.route(httptest.NewRecorder(), r)
	}
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	refuse(w, f.Status, f.Code, "on cue")
}

func (d *Databricks) route(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oidc/v1/token" {
		d.issue(w, r)
		return
	}
	if !d.known(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
		refuse(w, http.StatusUnauthorized, "UNAUTHENTICATED", "the token is not valid")
		return
	}
	verb, isDBFS := strings.CutPrefix(r.URL.Path, "/api/2.0/dbfs/")
	file, isFile := strings.CutPrefix(r.URL.Path, "/api/2.0/fs/files")
	dir, isDir := strings.CutPrefix(r.URL.Path, "/api/2.0/fs/directories")
	switch {
	case isDBFS:
		d.serveDBFS(w, r, verb)
	case isFile:
		d.serveFile(w, r, file)
	case isDir:
		d.serveDirectory(w, r, dir)
	default:
		refuse(w, http.StatusNotFound, "ENDPOINT_NOT_FOUND", "no API at "+r.URL.Path)
	}
}

func (d *Databricks) known(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return token == d.Token || d.issued[token]
}

// issue gives a token of OAuth for the client's secret.
func (d *Databricks) issue(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != d.ClientID || secret != d.ClientSecret || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "all-apis" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": "invalid_client", "error_description": "Authorization %s"}`, r.Header.Get("Authorization"))
		return
	}
	d.mu.Lock()
	d.tokens++
	token := fmt.Sprintf("oauth-%d", d.tokens)
	d.issued[token] = true
	d.mu.Unlock()
	answer(w, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(tokenLifetime.Seconds())})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// refuse answers with an error in the API's own form.
func refuse(w http.ResponseWriter, status int, code, message string, reasons ...string) {
	body := map[string]any{"error_code": code, "message": message}
	for _, reason := range reasons {
		body["details"] = []map[string]string{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

// decode64 decodes at most a block of base64.
func decode64(text string) (data []byte, fits bool, err error) {
	data, err = base64.StdEncoding.DecodeString(text)
	return data, len(data) <= maxBlock, err
}
