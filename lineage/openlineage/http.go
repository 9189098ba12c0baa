package openlineage

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// HTTP sends events to a server, one a request. It is safe for concurrent use.
type HTTP struct {
	client *http.Client
	url    string
	t      Transport
	sleep  func(ctx context.Context, d time.Duration) error
}

// NewHTTP checks the address. The error has kind store.ErrInvalid.
func NewHTTP(t Transport) (*HTTP, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, refused("the URL of the OpenLineage server", store.RedactURL(t.URL), "want http://HOST or https://HOST")
	}
	u = u.JoinPath(strings.Trim(cmp.Or(t.Endpoint, defaultEndpoint), "/"))
	return &HTTP{client: &http.Client{Timeout: cmp.Or(t.Timeout, defaultTimeout)}, url: u.String(), t: t, sleep: sleep}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// firstPause is how long to wait before the second try; each further one takes twice as long.
const firstPause = 300 * time.Millisecond

// Send delivers one event, and tries again when the server cannot be reached or says that it may answer otherwise later.
// A server that has an event twice takes it for one. Errors have the kinds of package store: ErrPermission for a wrong
// key, ErrNotExist for a wrong address, ErrInvalid for an event that the server refuses, ErrUnavailable after the last try.
func (h *HTTP) Send(ctx context.Context, e *Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if h.t.Gzip {
		if body, err = zipped(body); err != nil {
			return err
		}
	}
	pause := firstPause
	for try := 0; ; try++ {
		err := h.post(ctx, body)
		if err == nil || !errors.Is(err, store.ErrUnavailable) || try >= h.t.Retries {
			return err
		}
		if err := h.sleep(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

func zipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

func (h *HTTP) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return h.failed(store.ErrInvalid, err)
	}
	for name, value := range h.t.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	if h.t.Gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	if key := string(h.t.APIKey); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := h.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return h.failed(store.ErrUnavailable, withoutURL(err))
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // what can be read of it will do
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return h.failed(kindOf(answer.StatusCode), h.answer(answer.Status, said))
}

// maxAnswer is how much of a server's answer is read, maxSaid how much is told.
const (
	maxAnswer = 64 << 10
	maxSaid   = 300
)

// answer tells what a server said, without the key, should it have repeated that.
func (h *HTTP) answer(status string, said []byte) error {
	text := strings.Join(strings.Fields(string(said)), " ")
	if key := string(h.t.APIKey); key != "" {
		text = strings.ReplaceAll(text, key, store.RedactedMark)
	}
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	if text == "" {
		return fmt.Errorf("the server answered %s", status)
	}
	return fmt.Errorf("the server answered %s: %s", status, store.Redact(text))
}

// withoutURL drops the address from an error of the client, which repeats it with all that it holds.
func withoutURL(err error) error {
	var about *url.Error
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}

func (h *HTTP) failed(kind, err error) error {
	return &store.Error{Op: "send event", Key: store.RedactURL(h.url), Kind: kind, Err: err}
}

// kindOf classifies an answer.
func kindOf(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return store.ErrPermission
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return store.ErrNotExist
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return store.ErrUnavailable
	}
	return store.ErrInvalid
}
