package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// faults are the rows of the matrix.
func faults() []fault {
	slow := func(e *exchange) { e.status(503, "SlowDown", "backendError") }
	return []fault{
		{name: "reset before it arrives", once: true, inject: (*exchange).reset},
		{name: "answer lost", once: true, inject: (*exchange).lose},
		{name: "silence", once: true, silent: true, inject: (*exchange).hang},
		{name: "silence within the answer", once: true, silent: true, inject: func(e *exchange) { e.half(e.hang) }},
		{name: "answer cut short", once: true, inject: func(e *exchange) { e.half(e.reset) }},
		{name: "429, Retry-After", once: true, inject: func(e *exchange) {
			e.w.Header().Set("Retry-After", "1")
			e.status(429, "TooManyRequests", "rateLimitExceeded")
		}},
		{name: "503 SlowDown", once: true, inject: slow},
		{name: "409", once: true, inject: func(e *exchange) { e.status(409, "ConditionalRequestConflict", "conflict") }},
		{name: "200 and an error in it", once: true, inject: (*exchange).falseSuccess},
		{name: "503 for ever", inject: slow, want: store.ErrUnavailable},
		{name: "resets for ever", inject: (*exchange).reset, want: store.ErrUnavailable},
		{name: "answers lost for ever", inject: (*exchange).lose, want: store.ErrUnavailable},
		{name: "expired token", inject: func(e *exchange) {
			if e.isS3 {
				e.status(400, "ExpiredToken", "")
			} else {
				e.status(401, "", "authError")
			}
		}, want: store.ErrPermission},
		{name: "403", inject: func(e *exchange) { e.status(403, "AccessDenied", "forbidden") }, want: store.ErrPermission},
		{name: "full", inject: func(e *exchange) { e.status(507, "XMinioStorageFull", "") }, want: store.ErrNoSpace},
	}
}

// falseSuccess is S3's error within a 200 where that is known to happen, else a
// web page.
func (e *exchange) falseSuccess() {
	if e.isS3 && e.r.Method == http.MethodPost && e.r.URL.Query().Has("uploadId") {
		page(200, "application/xml", "<Error><Code>InternalError</Code><Message>on cue</Message></Error>")(e.w, e.r)
		return
	}
	page(200, "text/html", "<html>please log in</html>")(e.w, e.r)
}

// operation is a column of the matrix. It is tried on a bucket that holds "old"
// under the key there.
type operation struct {
	name string
	// match picks the requests that are in trouble.
	match func(r *http.Request, body []byte) bool
	run   func(c *matrixCell) error
	// after is what the bucket holds in the end, by key.
	after map[store.Key]string
}

// matrixCell is one fault in one operation.
type matrixCell struct {
	t       *testing.T
	store   *store.Store
	long    string // a file of two parts
	version string // of there
}

func (c *matrixCell) upload(key store.Key, create bool) error {
	path := filepath.Join(c.t.TempDir(), "long")
	if err := os.WriteFile(path, []byte(c.long), 0o600); err != nil {
		return err
	}
	return second(c.store.Upload(c.t.Context(), path, key, &store.TransferOptions{PartSize: 1000, Create: create}))
}

// wrong is an error that no cell may end with.
func wrong(format string, args ...any) error { return fmt.Errorf("WRONG: "+format, args...) }

func operations(long string) []operation {
	const there, fresh store.Key = "there", "new"
	unchanged := map[store.Key]string{there: "old"}
	replaced := map[store.Key]string{there: long}
	created := map[store.Key]string{there: "old", fresh: long}
	longPut := func(c *matrixCell) error { return c.upload(there, false) }
	longCreate := func(c *matrixCell) error { return c.upload(fresh, true) }
	return []operation{
		{"get", anyRequest, func(c *matrixCell) error { return wantText(c.store.Get(c.t.Context(), there)) }, unchanged},
		{"range", anyRequest, (*matrixCell).readRange, unchanged},
		{"stat", anyRequest, (*matrixCell).stat, unchanged},
		{"list", anyRequest, (*matrixCell).list, unchanged},
		{"download", anyRequest, (*matrixCell).download, unchanged},
		{"put", anyRequest, func(c *matrixCell) error { return c.store.Put(c.t.Context(), there, []byte("put")) }, map[store.Key]string{there: "put"}},
		{"create", anyRequest, func(c *matrixCell) error { return c.store.Create(c.t.Context(), fresh, []byte("x")) }, map[store.Key]string{there: "old", fresh: "x"}},
		{"replace", anyRequest, func(c *matrixCell) error {
			return c.store.Replace(c.t.Context(), there, []byte("r"), c.version)
		}, map[store.Key]string{there: "r"}},
		{"long:begin", isBegin, longPut, replaced},
		{"long:part", isPart, longPut, replaced},
		{"long:end", isComplete, longPut, replaced},
		{"create:end", isComplete, longCreate, created},
		{"delete", isDelete, func(c *matrixCell) error { return c.store.Delete(c.t.Context(), there) }, map[store.Key]string{}},
	}
}

func anyRequest(*http.Request, []byte) bool     { return true }
func isDelete(r *http.Request, _ []byte) bool   { return r.Method == http.MethodDelete }
func isS3Upload(r *http.Request, q string) bool { return r.URL.Query().Has(q) }

func isBegin(r *http.Request, body []byte) bool {
	return isS3Upload(r, "uploads") && r.Method == http.MethodPost || strings.HasSuffix(r.URL.Query().Get("name"), "/begun") || bytes.Contains(body[:min(len(body), 500)], []byte("/begun"))
}

func isPart(r *http.Request, body []byte) bool {
	return isS3Upload(r, "partNumber") || strings.HasSuffix(r.URL.Query().Get("name"), "/00000") || bytes.Contains(body[:min(len(body), 500)], []byte("/00000\""))
}

func isComplete(r *http.Request, _ []byte) bool {
	return r.Method == http.MethodPost && (isS3Upload(r, "uploadId") || strings.HasSuffix(r.URL.Path, "/compose"))
}

func wantText(got []byte, err error) error {
	if err == nil && string(got) != "old" {
		return wrong("read %.60q", got)
	}
	return err
}

func (c *matrixCell) readRange() error {
	r, err := c.store.OpenRange(c.t.Context(), "there", 1, 2, c.version)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err == nil && string(got) != "ld" {
		return wrong("read %.60q", got)
	}
	return err
}

func (c *matrixCell) stat() error {
	o, err := c.store.Stat(c.t.Context(), "there")
	if err == nil && (o.Size != 3 || o.Version != c.version) {
		return wrong("stat is %+v", o)
	}
	return err
}

func (c *matrixCell) list() error {
	var keys []store.Key
	for o, err := range c.store.List(c.t.Context(), "") {
		if err != nil {
			return err
		}
		keys = append(keys, o.Key)
	}
	if fmt.Sprint(keys) != "[there]" {
		return wrong("the list is %q", keys)
	}
	return nil
}

func (c *matrixCell) download() error {
	path := filepath.Join(c.t.TempDir(), "down")
	_, err := c.store.Download(c.t.Context(), "there", path, nil)
	got, readErr := os.ReadFile(path)
	switch {
	case err == nil && string(got) != "old":
		return wrong("downloaded %q", got)
	case err != nil && readErr == nil:
		return wrong("after %v there is %q", err, got)
	}
	return err
}

// TestFaultMatrix puts each fault into each operation, on S3 and on GCS, and
// looks at what is left.
func TestFaultMatrix(t *testing.T) {
	s3, gcs := servers.VersityGW(t), servers.FakeGCS(t)
	t.Setenv("AWS_ENDPOINT_URL", "")
	for _, c := range []struct {
		name string
		size int // of the long file
		// bucket makes one and gives the URL of the store in it.
		bucket func(name string) string
		proxy  *faultProxy
	}{
		{name: "s3", size: 5<<20 + 1000, proxy: startFaultProxy(t, s3.Endpoint)},
		{name: "gcs", size: 2500, proxy: startFaultProxy(t, gcs.Endpoint)},
	} {
		t.Run(c.name, func(t *testing.T) {
			long := strings.Repeat("0123456789abcdef", c.size/16+1)[:c.size]
			open := func(name string) string {
				if c.name == "gcs" {
					return gcs.WithBucket(t, name).URL("")
				}
				through := s3.WithBucket(t, name)
				through.Endpoint = c.proxy.url
				return through.URL("")
			}
			t.Setenv("STORAGE_EMULATOR_HOST", c.proxy.host)
			runMatrix(t, c.proxy, open, operations(long), long)
		})
	}
}

func runMatrix(t *testing.T, proxy *faultProxy, open func(name string) string, columns []operation, long string) {
	rows := faults()
	results := make([][]string, len(rows))
	var group, waiting errgroup.Group // who waits for what is never said takes nobody's place
	group.SetLimit(16)
	for i, f := range rows {
		results[i] = make([]string, len(columns))
		for j, op := range columns {
			bucket := fmt.Sprintf("cell-%d-%d", i, j)
			url := open(bucket)
			cell := func() error {
				results[i][j] = runCell(t, proxy, bucket, url, f, op, long)
				return nil
			}
			if f.silent {
				waiting.Go(cell)
			} else {
				group.Go(cell)
			}
		}
	}
	group.Wait()
	waiting.Wait()
	var b strings.Builder
	fmt.Fprintf(&b, "faults and operations\n%-26s", "")
	for _, op := range columns {
		fmt.Fprintf(&b, " %-11s", op.name)
	}
	for i, f := range rows {
		fmt.Fprintf(&b, "\n%-26s", f.name)
		for j := range columns {
			fmt.Fprintf(&b, " %-11s", results[i][j])
		}
	}
	t.Log(b.String())
}

// runCell gives what the operation came to.
func runCell(t *testing.T, proxy *faultProxy, bucket, url string, f fault, op operation, long string) string {
	opts := &store.Options{MaxAttempts: 3, RetryDelay: time.Millisecond, StallTimeout: 5 * time.Minute}
	if f.silent {
		opts.StallTimeout = 15 * time.Second // longer than a server takes under load, which would be a fault of its own
	}
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Error(err)
		return "FAIL"
	}
	defer s.Close()
	if err := s.Put(t.Context(), "there", []byte("old")); err != nil {
		t.Errorf("%s, %s: prepare: %v", f.name, op.name, err)
		return "FAIL"
	}
	o, err := s.Stat(t.Context(), "there")
	if err != nil {
		t.Errorf("%s, %s: prepare: %v", f.name, op.name, err)
		return "FAIL"
	}
	tr := &trouble{fault: f, match: op.match}
	cell := &matrixCell{t: t, store: s, long: long, version: o.Version}
	if strings.Contains(op.name, ":") {
		tr.first = func() { // of a long write nothing is to be seen yet
			if err := errors.Join(cell.list(), wantText(s.Get(t.Context(), "there"))); err != nil {
				t.Errorf("%s, %s: in the middle: %v", f.name, op.name, err)
			}
		}
	}
	proxy.set(bucket, tr)
	start := time.Now()
	err = op.run(cell)
	proxy.set(bucket, nil)
	cancelled := err != nil && op.name == "long:part" // the other part may not have been on its way yet
	if sent, counted := proxy.count(bucket), s.Stats().Total(); sent != counted && !cancelled {
		t.Errorf("%s, %s: %d requests, %d are counted", f.name, op.name, sent, counted)
	}
	if begun := s.Stats().Requests["begin"]; f.name == "409" && strings.HasSuffix(op.name, ":end") && s.Scheme() == "s3" && begun != 2 {
		t.Errorf("%s, %s: begun %d times, want 2: a conflict makes the parts void", f.name, op.name, begun)
	}
	if took := time.Since(start); strings.Contains(f.name, "Retry-After") && took < time.Second {
		t.Errorf("%s, %s: tried again after %v", f.name, op.name, took)
	}
	if problem := checkCell(t, s, f, op, tr, err); problem != "" {
		t.Errorf("%s, %s: %s", f.name, op.name, problem)
		return "FAIL"
	}
	return kindName(err)
}

// checkCell gives what is wrong about a cell, "" if nothing is.
func checkCell(t *testing.T, s *store.Store, f fault, op operation, tr *trouble, err error) string {
	switch {
	case tr.hits == 0:
		return "the fault was never met"
	case f.want == nil && err != nil:
		return fmt.Sprintf("error is %v, want none", err)
	case f.want != nil && !errors.Is(err, f.want):
		return fmt.Sprintf("error is %v, want %v", err, f.want)
	}
	before := map[store.Key]string{"there": "old"}
	for _, key := range []store.Key{"there", "new"} {
		got, getErr := s.Get(t.Context(), key)
		now, there := string(got), getErr == nil
		if getErr != nil && !errors.Is(getErr, store.ErrNotExist) {
			return fmt.Sprintf("afterwards, get %s: %v", key, getErr)
		}
		after, wantThere := op.after[key]
		was, wasThere := before[key]
		isAfter := there == wantThere && now == after
		isBefore := there == wasThere && now == was
		if !isAfter && (err == nil || !isBefore) {
			return fmt.Sprintf("after error %v %s has %d bytes (there: %v)", err, key, len(now), there)
		}
	}
	return checkLeft(t, s, err)
}

// checkLeft wants no upload left over, neither by what succeeded nor by what
// failed.
func checkLeft(t *testing.T, s *store.Store, err error) string {
	if list := unfinished(t, s); len(list) > 0 {
		return fmt.Sprintf("%d uploads are left over after error %v", len(list), err)
	}
	return ""
}

func kindName(err error) string {
	for name, kind := range map[string]error{"unavailable": store.ErrUnavailable, "permission": store.ErrPermission, "no space": store.ErrNoSpace} {
		if errors.Is(err, kind) {
			return name
		}
	}
	return "ok"
}
