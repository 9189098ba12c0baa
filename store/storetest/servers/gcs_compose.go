package servers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// composeFront stands before the emulator and gives compose what Google
// documents and the emulator leaves out: ifGenerationMatch is honoured, and a
// missing source is 404. Composes exclude each other, but no other writes.
type composeFront struct {
	proxy    http.Handler
	emulator string
	mu       sync.Mutex // held from the check of a condition to the answer
}

// frontCompose starts the front of the emulator at the URL and gives its host.
func frontCompose(t testing.TB, emulator string) (host string) {
	t.Helper()
	target, err := url.Parse(emulator)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := &composeFront{proxy: proxy, emulator: emulator}
	proxy.ModifyResponse = func(r *http.Response) error {
		if isCompose(r.Request) && r.StatusCode == http.StatusInternalServerError {
			replaceError(r, http.StatusNotFound, "notFound")
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {
		panic(http.ErrAbortHandler) // as the emulator broke off, so does the front
	}
	server := httptest.NewServer(front)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func replaceError(r *http.Response, status int, reason string) {
	r.Body.Close()
	body := errorBody(status, reason)
	r.StatusCode, r.Status = status, http.StatusText(status)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
}

// errorBody is an error as Google writes it.
func errorBody(status int, reason string) string {
	return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "errors": [{"reason": %q}]}}`, status, http.StatusText(status), reason)
}

func isCompose(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/compose")
}

func (f *composeFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isCompose(r) {
		f.proxy.ServeHTTP(w, r)
		return
	}
	want := r.URL.Query().Get("ifGenerationMatch")
	f.mu.Lock()
	defer f.mu.Unlock()
	if want != "" && want != f.generation(r) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusPreconditionFailed)
		io.WriteString(w, errorBody(http.StatusPreconditionFailed, "conditionNotMet"))
		return
	}
	f.proxy.ServeHTTP(w, r)
}

// generation is that of the object which r composes, "0" if there is none.
func (f *composeFront) generation(r *http.Request) string {
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/compose")
	response, err := http.Get(f.emulator + path)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return "0"
	}
	var object struct{ Generation string }
	if err := json.NewDecoder(response.Body).Decode(&object); err != nil {
		return err.Error()
	}
	return object.Generation
}
