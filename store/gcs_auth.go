package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"cloud.google.com/go/storage"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"
	"google.golang.org/api/transport"
	htransport "google.golang.org/api/transport/http"
)

// GCSOptions are credentials, of which one is given at most; anonymous=true in
// the URL wins over them. Without any the application's default credentials count.
type GCSOptions struct {
	// CredentialsFile is a key of a service account, or what gcloud keeps of a
	// user, as JSON; CredentialsJSON is the text of one.
	CredentialsFile string
	CredentialsJSON Secret
	// AccessToken is one of OAuth, which is not renewed.
	AccessToken Secret
}

// authenticated is base with credentials. Servers of one's own may want none.
func (b *gcsBackend) authenticated(ctx context.Context, base *http.Transport) (http.RoundTripper, error) {
	if b.anonymous || b.emulated() {
		return base, nil
	}
	how, err := b.opts.credentials()
	if err != nil {
		return nil, err
	}
	auth, err := htransport.NewTransport(ctx, base, append(how, option.WithScopes(storage.ScopeReadWrite))...)
	switch {
	case err != nil && len(how) == 0 && b.address != "":
		return base, nil
	case err != nil:
		return nil, &Error{Kind: ErrPermission, Err: fmt.Errorf("no Google credentials were found: %w", err)}
	}
	return auth, nil
}

// emulated reports that STORAGE_EMULATOR_HOST counts.
func (b *gcsBackend) emulated() bool {
	return b.address == "" && os.Getenv("STORAGE_EMULATOR_HOST") != ""
}

// credentials are none where the default ones count.
func (o GCSOptions) credentials() ([]option.ClientOption, error) {
	text := []byte(o.CredentialsJSON)
	switch {
	case o.AccessToken != "":
		return []option.ClientOption{option.WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(o.AccessToken)}))}, nil
	case o.CredentialsFile != "":
		var err error
		if text, err = readCredentials(o.CredentialsFile); err != nil {
			return nil, err
		}
	case len(text) == 0:
		return nil, nil
	}
	var kind struct {
		Type option.CredentialsType `json:"type"`
	}
	if err := json.Unmarshal(text, &kind); err != nil || kind.Type == "" { // whose text may hold what was read
		return nil, &Error{Kind: ErrInvalid, Err: errors.New("the Google credentials are not JSON that says its type")}
	}
	return []option.ClientOption{option.WithAuthCredentialsJSON(kind.Type, text)}, nil
}

// maxCredentials is more than any key has.
const maxCredentials = 1 << 20

func readCredentials(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &Error{Kind: kindOf(err), Err: fmt.Errorf("the Google credentials: %w", err)}
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxCredentials))
}

func (b *gcsBackend) connection(ctx context.Context) (Connection, error) {
	c := Connection{Endpoint: b.address}
	switch emulator := os.Getenv("STORAGE_EMULATOR_HOST"); {
	case b.emulated():
		return Connection{Endpoint: "http://" + strings.TrimPrefix(emulator, "http://"), Identity: "nobody, to an emulator"}, nil
	case b.anonymous:
		c.Identity = "nobody, as the URL asks for"
		return c, nil
	}
	how, err := b.opts.credentials()
	if err != nil {
		return c, err
	}
	found, err := transport.Creds(ctx, append(how, option.WithScopes(storage.ScopeReadWrite))...)
	switch {
	case err != nil && len(how) == 0 && b.address != "":
		c.Identity = "nobody, for want of credentials"
		return c, nil
	case err != nil:
		return c, &Error{Kind: ErrPermission, Err: fmt.Errorf("no Google credentials were found: %w", err)}
	}
	c.Identity = b.opts.identity(found)
	token, err := found.TokenSource.Token()
	if err != nil {
		return c, &Error{Kind: ErrPermission, Err: fmt.Errorf("no token from Google for %s: %w", c.Identity, brief(err))}
	}
	c.Expires = token.Expiry
	return c, nil
}

func (o GCSOptions) identity(found *google.Credentials) string {
	switch {
	case o.AccessToken != "":
		return "a token that was handed over"
	case o.CredentialsFile != "":
		return "the credentials in " + o.CredentialsFile
	case o.CredentialsJSON != "":
		return "credentials that were handed over"
	case len(found.JSON) == 0:
		return "the service account of this machine"
	}
	return "the application's default credentials"
}
