package dbfsblob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const (
	// answerTimeout is how long an answer may take to begin. The listing of a large directory takes a minute.
	answerTimeout = 90 * time.Second
	// longestWait bounds what a Retry-After is obeyed.
	longestWait = 30 * time.Second
	maxMessage  = 64 << 10 // bytes read of an answer that is an error
)

// client makes single requests of one workspace.
type client struct {
	host string // scheme and name
	http *http.Client
	auth *auth
}

func newClient(c Config) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTimeout
	transport.MaxIdleConnsPerHost = 32
	hc := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a workspace that moved answers with a page to log in at
	}}
	return &client{host: c.Host, http: hc, auth: &auth{config: c, http: hc}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// request is one exchange. body is sent again after a token was renewed, unless it is a stream.
type request struct {
	method, path string // the path is not escaped yet
	query        url.Values
	header       map[string]string
	body         []byte
	stream       io.Reader // instead of body, read once
}

// do gives an answer with a status below 300, whose body the caller closes, or a *dirtree.Error without verb and path.
func (c *client) do(ctx context.Context, r request) (*http.Response, error) {
	response, err := c.try(ctx, r)
	if statusOf(err) == http.StatusUnauthorized && c.auth.renew() && r.stream == nil {
		return c.try(ctx, r)
	}
	return response, err
}

func (c *client) try(ctx context.Context, r request) (*http.Response, error) {
	token, err := c.auth.token(ctx)
	if err != nil {
		return nil, err
	}
	target := c.host + (&url.URL{Path: r.path}).EscapedPath()
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	body := r.stream
	if body == nil && r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("User-Agent", "heirloom")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	response, err := c.http.Do(req)
	if err != nil {
		return nil, unanswered(err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	return nil, c.refused(ctx, response)
}

// unanswered is a request that found no answer: a broken connection, unless the context has ended or the source of a
// stream failed.
func unanswered(err error) error {
	if source, ok := errors.AsType[sourceError](err); ok {
		return source.error
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: err}
}

// sourceError marks what the caller's reader returned.
type sourceError struct{ error }

func (e sourceError) Unwrap() error { return e.error }

// refused makes an error of an answer and, where the workspace asks for a pause, takes it, so that whoever tries again does
// not come too early.
func (c *client) refused(ctx context.Context, response *http.Response) error {
	defer response.Body.Close()
	e := newAnswerError(response)
	switch response.StatusCode {
	case http.StatusUnauthorized:
		e.Err = fmt.Errorf("%w; the credentials from %s are refused: they may have expired; %s", e.Err, c.auth.config.Source, c.auth.remedy())
	case http.StatusForbidden:
		e.Err = fmt.Errorf("%w; the user of the credentials from %s lacks the permission, or the token its scope", e.Err, c.auth.config.Source)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if err := wait(ctx, retryAfter(response)); err != nil {
			return err
		}
	}
	return e
}

func newAnswerError(response *http.Response) *dirtree.Error {
	var said struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMessage))
	if err != nil || json.Unmarshal(text, &said) != nil {
		said.Code, said.Message = "", ""
	}
	line, _, _ := strings.Cut(said.Message, "\n")
	switch {
	case said.Code == "" && line == "":
		line = "the workspace answers " + response.Status
	case said.Code == "" || line == "":
		line = said.Code + line
	default:
		line = said.Code + ": " + line
	}
	return &dirtree.Error{Kind: kindOfAnswer(response.StatusCode, said.Code), Err: answer{response.StatusCode, errors.New(line)}}
}

// retryAfter is what the answer asks for, in seconds or as a date, at most longestWait.
func retryAfter(response *http.Response) time.Duration {
	text := response.Header.Get("Retry-After")
	pause := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		pause = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		pause = time.Until(at)
	}
	return min(max(pause, 0), longestWait)
}

func wait(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// call sends in as JSON, if it is not nil, and reads the answer into out, if it is not nil.
func (c *client) call(ctx context.Context, r request, in, out any) error {
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r.body, r.header = body, map[string]string{"Content-Type": "application/json"}
	}
	response, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxMessage))
	} else {
		err = json.NewDecoder(response.Body).Decode(out)
	}
	return unread(err)
}

// unread is an answer that broke off, or is none of the API's: that of a proxy, or of a page to log in at.
func unread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &dirtree.Error{Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("read the answer: %w", err)}
}
