package dbfsblob

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// earlier is how long before its end a token of OAuth is replaced.
const earlier = 2 * time.Minute

// auth gives the token that goes with each request.
type auth struct {
	config Config
	http   *http.Client

	mu      sync.Mutex // guards what follows, and lets one goroutine fetch for all
	current string
	until   time.Time
}

func (a *auth) oauth() bool { return a.config.Token == "" }

func (a *auth) remedy() string {
	if a.oauth() {
		return "check the secret of the service principal"
	}
	return "make a new token in the workspace's settings (Developer, Access tokens) and set DATABRICKS_TOKEN or the profile to it"
}

// token is the personal one, or one of OAuth that still lasts.
func (a *auth) token(ctx context.Context) (string, error) {
	if !a.oauth() {
		return a.config.Token, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current != "" && time.Now().Before(a.until) {
		return a.current, nil
	}
	return a.fetch(ctx)
}

// renew forgets a token that was refused, and reports whether there can be another.
func (a *auth) renew() bool {
	if !a.oauth() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = ""
	return true
}

// fetch asks for a token with the secret of the service principal (RFC 6749, 4.4).
func (a *auth) fetch(ctx context.Context) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"all-apis"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.config.Host+"/oidc/v1/token", strings.NewReader(form))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(a.config.ClientID), url.QueryEscape(a.config.ClientSecret))
	response, err := a.http.Do(req)
	if err != nil {
		return "", unanswered(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", a.rejected(response)
	}
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxMessage)).Decode(&answer); err != nil {
		return "", unread(err)
	}
	a.current = answer.Token
	a.until = time.Now().Add(time.Duration(answer.Seconds)*time.Second - earlier)
	return a.current, nil
}

// rejected says what the answer does without what it holds: an error of OAuth may repeat the request.
func (a *auth) rejected(response *http.Response) error {
	kind := kindOfStatus(response.StatusCode)
	if errors.Is(kind, fs.ErrInvalid) {
		kind = fs.ErrPermission // invalid_client and its like
	}
	err := errors.New("the workspace gives no token for the client id from " + a.config.Source + " (" + response.Status + "); " + a.remedy())
	return &dirtree.Error{Kind: kind, Err: answer{response.StatusCode, err}}
}
