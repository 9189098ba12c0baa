package doctor

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// soon is how long credentials should last at least.
const soon = 10 * time.Minute

func (e *examination) credentials(ctx context.Context) Finding {
	c, err := e.Store.Connection(ctx)
	switch {
	case err != nil:
		f := explain("find credentials", err)
		if errors.Is(f.Err, store.ErrPermission) {
			f.Message, f.Advice = cause(err), "set the AWS_ variables or AWS_PROFILE, or log in; for Google: gcloud auth application-default login"
		}
		return f
	case c.Identity == "":
		return ok("none are needed")
	case c.Expires.IsZero():
		return ok("from " + c.Identity)
	}
	left := c.Expires.Sub(e.Now()).Round(time.Second)
	switch {
	case left <= 0:
		return failed(store.ErrPermission, fmt.Sprintf("those from %s expired %v ago", c.Identity, -left), "get new ones")
	case left < soon:
		return warning(fmt.Sprintf("those from %s expire in %v", c.Identity, left), "renew them before a long job")
	}
	return ok(fmt.Sprintf("from %s, for another %v", c.Identity, left))
}

// endpoint asks the far side anything at all: an answer that refuses is an answer.
func (e *examination) endpoint(ctx context.Context) Finding {
	c, err := e.Store.Connection(ctx)
	if err != nil {
		return explain("connect", err)
	}
	if strings.HasPrefix(c.Endpoint, "http") {
		if f := webPage(ctx, c.Endpoint); f.Status == Failed {
			return f
		}
	}
	begin := time.Now()
	err = Reach(ctx, e.scratch.Sub(""))
	took := time.Since(begin).Round(time.Millisecond)
	switch {
	case err != nil && (known(err) || !errors.Is(err, store.ErrPermission)):
		return explain("reach the store", err)
	case c.Endpoint != "":
		return ok(fmt.Sprintf("%s answers in %v", c.Endpoint, took))
	}
	return ok(fmt.Sprintf("it answers in %v", took))
}

// webPage finds out whether people are answered at an endpoint, not programs: a portal that wants a login, or a
// console. Some of them pass for an empty listing.
func webPage(ctx context.Context, endpoint string) Finding {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/heirloom-doctor", nil)
	if err != nil {
		return failed(store.ErrInvalid, "the endpoint is no URL: "+err.Error(), "write it like http://127.0.0.1:9000")
	}
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return Finding{} // what is wrong shows itself in the next request
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // "" is no page
	if kind != "text/html" {
		return Finding{}
	}
	return failed(store.ErrInvalid, fmt.Sprintf("%s answers with a web page: it is no store, or a portal stands before it", endpoint),
		"correct the endpoint, or log in to the network")
}

func (e *examination) list(ctx context.Context) Finding {
	for o, err := range e.Store.List(ctx, "") {
		if err != nil {
			return explain("list", err)
		}
		e.first = o.Key
		break
	}
	return ok("may list")
}

func (e *examination) write(ctx context.Context) Finding {
	e.probe.Key = "probe"
	if err := e.scratch.Sub("").Put(ctx, e.probe.Key, pattern(1000)); err != nil {
		return explain("write", err)
	}
	return ok("may write")
}

// read reads what was written, or, where nothing may be written, some object that is there.
func (e *examination) read(ctx context.Context) Finding {
	s, key := e.scratch.Sub(""), e.probe.Key
	if e.broken["write"] {
		s, key = e.Store, e.first
	}
	if key == "" {
		return skipped("there is nothing to read")
	}
	r, err := s.Open(ctx, key)
	if err != nil {
		return explain("read", err)
	}
	return okOr(r.Close(), "may read")
}

func okOr(err error, message string) Finding {
	if err != nil {
		return explain("read", err)
	}
	return ok(message)
}

func (e *examination) remove(ctx context.Context) Finding {
	s := e.scratch.Sub("")
	if err := s.Delete(ctx, e.probe.Key); err != nil {
		f := explain("delete", err)
		f.Advice = strings.TrimPrefix(f.Advice+"; ", "; ") + "what was tried is left below " + e.Store.KeyURL(e.scratch.Prefix)
		return f
	}
	if _, err := s.Stat(ctx, e.probe.Key); !errors.Is(err, store.ErrNotExist) {
		return failed(store.ErrCorrupt, "an object is still there after it was deleted", "use another store: this one does not keep its word")
	}
	return ok("may delete")
}
