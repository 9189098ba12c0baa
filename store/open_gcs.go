package store

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
	htransport "google.golang.org/api/transport/http"
)

// openGCS reads bucket/prefix?parameters. No client is made yet.
func openGCS(_ context.Context, rest string, opts Options) (*Store, error) {
	bucket, prefix, query, err := splitBucket("gs", rest)
	if err != nil {
		return nil, err
	}
	back := &gcsBackend{bucket: bucket, stall: opts.stall()}
	for name := range query {
		if name != "anonymous" {
			return nil, invalid(fmt.Errorf("unknown parameter %q of a gs URL; known is anonymous", name))
		}
		if back.anonymous, err = strconv.ParseBool(query.Get(name)); err != nil {
			return nil, invalid(fmt.Errorf("parameter %s of a gs URL: %w", name, err))
		}
	}
	return newStore(place{scheme: "gs", root: bucket, query: queryString(query)}, prefix, back, opts), nil
}

// connect makes the client at the first use.
func (b *gcsBackend) connect(ctx context.Context) (*storage.BucketHandle, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client == nil {
		client, err := b.newClient(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		client.SetRetry(storage.WithPolicy(storage.RetryNever)) // Store retries, and counts
		b.client = client
	}
	return b.client.Bucket(b.bucket), nil
}

// newClient follows the SDK's own chain: STORAGE_EMULATOR_HOST, then the
// application's default credentials.
func (b *gcsBackend) newClient(ctx context.Context) (*storage.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	tuneTransport(transport)
	var auth http.RoundTripper = transport
	if os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		how := option.WithScopes(storage.ScopeReadWrite)
		if b.anonymous {
			how = option.WithoutAuthentication()
		}
		var err error
		if auth, err = htransport.NewTransport(ctx, transport, how); err != nil {
			return nil, &Error{Kind: ErrPermission, Err: fmt.Errorf("no Google credentials were found: %w", err)}
		}
	}
	watching := &watched{do: auth.RoundTrip, stall: b.stall}
	client := &http.Client{Transport: &gcsTransport{base: watching, back: b}}
	return storage.NewClient(ctx, option.WithHTTPClient(client), storage.WithDisabledClientMetrics())
}

// gcsTransport remembers whom it spoke to.
type gcsTransport struct {
	base http.RoundTripper
	back *gcsBackend
}

func (t *gcsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Scheme + "://" + r.URL.Host
	t.back.host.Store(&host)
	return t.base.RoundTrip(r)
}

// endpoint names the far side in errors, once it is known.
func (b *gcsBackend) endpoint() string {
	if host := b.host.Load(); host != nil {
		return *host
	}
	return ""
}
