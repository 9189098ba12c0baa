package dbfsblob

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func TestKindOfAnswer(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "RESOURCE_DOES_NOT_EXIST", fs.ErrNotExist},
		{404, "NOT_FOUND", fs.ErrNotExist},
		{404, "", fs.ErrNotExist}, // HEAD has no body
		{400, "RESOURCE_ALREADY_EXISTS", fs.ErrExist},
		{409, "ALREADY_EXISTS", fs.ErrExist},
		{409, "ABORTED", dirtree.ErrUnavailable},
		{409, "", dirtree.ErrUnavailable},
		{401, "UNAUTHENTICATED", fs.ErrPermission},
		{403, "PERMISSION_DENIED", fs.ErrPermission},
		{403, "", fs.ErrPermission},
		{401, "", fs.ErrPermission},
		{400, "INVALID_PARAMETER_VALUE", fs.ErrInvalid},
		{400, "MALFORMED_REQUEST", fs.ErrInvalid},
		{400, "MAX_BLOCK_SIZE_EXCEEDED", fs.ErrInvalid},
		{400, "MAX_READ_SIZE_EXCEEDED", fs.ErrInvalid},
		{400, "IO_ERROR", fs.ErrInvalid},
		{400, "SOMETHING_NEW", fs.ErrInvalid},
		{413, "", dirtree.ErrNoSpace},
		{400, "QUOTA_EXCEEDED", dirtree.ErrNoSpace},
		{412, "", dirtree.ErrConflict},
		{416, "", dirtree.ErrRange},
		{429, "REQUEST_LIMIT_EXCEEDED", dirtree.ErrUnavailable},
		{429, "", dirtree.ErrUnavailable},
		{408, "", dirtree.ErrUnavailable},
		{500, "INTERNAL_ERROR", dirtree.ErrUnavailable},
		{500, "", dirtree.ErrUnavailable},
		{502, "", dirtree.ErrUnavailable},
		{503, "TEMPORARILY_UNAVAILABLE", dirtree.ErrUnavailable},
		{503, "PARTIAL_DELETE", dirtree.ErrUnavailable},
		{504, "DEADLINE_EXCEEDED", dirtree.ErrUnavailable},
		{500, "DATA_LOSS", dirtree.ErrCorrupt},
		{501, "", errors.ErrUnsupported},
		{404, "ENDPOINT_NOT_FOUND", errors.ErrUnsupported},
		{400, "FEATURE_DISABLED", errors.ErrUnsupported},
		{302, "", fs.ErrInvalid},
		{303, "", fs.ErrInvalid},
	} {
		if got := kindOfAnswer(c.status, c.code); !errors.Is(got, c.want) {
			t.Errorf("%d %s is %v, want %v", c.status, c.code, got, c.want)
		}
	}
}

// TestRetryAfter wants the pause that the workspace asks for, and no more than is reasonable.
func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "3": 3 * time.Second, "-1": 0, "86400": longestWait, "soon": 0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): longestWait,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			response := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {header}}, Body: http.NoBody}
			err := newClient(Config{}).refused(t.Context(), response)
			if e, ok := errors.AsType[*dirtree.Error](err); !ok || !errors.Is(e.Kind, dirtree.ErrUnavailable) {
				t.Errorf("Retry-After %q: %v", header, err)
			}
			if got := time.Since(start); !strings.Contains(header, "GMT") && got != want {
				t.Errorf("Retry-After %q: waited %v, want %v", header, got, want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"9"}}, Body: http.NoBody}
	if err := newClient(Config{}).refused(ctx, response); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// TestRefusals says what to do, and never a token.
func TestRefusals(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		wrong := openAs(t, b.Dir(), Config{Host: server.Host, Token: "dapi-wrong-secret", Source: "the environment"})
		for verb, err := range map[string]error{
			"put":    wrong.Put(t.Context(), "k", nil),
			"create": wrong.Create(t.Context(), "k", nil),
			"stat":   second(wrong.Stat(t.Context(), "k")),
			"read":   second(wrong.read(t.Context(), "k")),
			"delete": wrong.Remove(t.Context(), "k"),
			"list":   listError(wrong),
		} {
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "from the environment are refused") || !strings.Contains(err.Error(), "set DATABRICKS_TOKEN") {
				t.Errorf("%s: %v, want ErrPermission and how to mend it", verb, err)
			}
			if err != nil && strings.Contains(err.Error(), "dapi") {
				t.Errorf("%s: the error shows the token: %v", verb, err)
			}
		}
		server.Inject(func(*http.Request) *servers.Fault {
			return &servers.Fault{Status: http.StatusForbidden, Code: "PERMISSION_DENIED"}
		})
		if err := b.Put(t.Context(), "k", nil); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "lacks the permission") {
			t.Errorf("403: %v", err)
		}
		server.Inject(func(*http.Request) *servers.Fault { return &servers.Fault{Status: http.StatusFound} })
		if err := b.Put(t.Context(), "k", nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("a page to log in at: %v", err)
		}
	})
}

func second[A any](_ A, err error) error { return err }

func listError(b *Bucket) error {
	for _, err := range b.Walk(context.Background(), "") {
		return err
	}
	return nil
}

// TestInTheWay tells files and directories that have each other's names.
func TestInTheWay(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		ctx := t.Context()
		if err := b.Put(ctx, "dir/file", []byte("x")); err != nil {
			t.Fatal(err)
		}
		long := strings.NewReader(strings.Repeat("x", 2*testBlock))
		for what, err := range map[string]error{
			"put on a directory":     b.Put(ctx, "dir", nil),
			"create on a directory":  b.Create(ctx, "dir", []byte("x")),
			"stream on a directory":  second(b.PutStream(ctx, "dir", long, dirtree.Replace)),
			"put below a file":       b.Put(ctx, "dir/file/x", nil),
			"create below a file":    b.Create(ctx, "dir/file/x/y", []byte("x")),
			"an empty key":           b.Put(ctx, "", nil),
			"a stream to no key":     second(b.PutStream(ctx, "", long, dirtree.Create)),
			"a create of no content": b.Create(ctx, "dir", nil),
		} {
			e, ok := errors.AsType[*dirtree.Error](err)
			if !ok || !errors.Is(e.Kind, fs.ErrInvalid) || errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v, want ErrInvalid", what, err)
			}
		}
		for what, err := range map[string]error{
			"read a directory":    second(b.read(ctx, "dir")),
			"stat a directory":    second(b.Stat(ctx, "dir")),
			"delete a directory":  b.Remove(ctx, "dir"),
			"stat below a file":   second(b.Stat(ctx, "dir/file/x")),
			"delete below a file": b.Remove(ctx, "dir/file/x"),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v, want ErrNotExist", what, err)
			}
		}
		wantBody(t, b, "dir/file", "x")
		wantFiles(t, server, b, "dir/file")
	})
}
