package store

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
)

// openGCS reads bucket/prefix?parameters. No client is made yet.
func openGCS(_ context.Context, rest string, opts Options) (*Store, error) {
	bucket, prefix, query, err := splitBucket("gs", rest)
	if err != nil {
		return nil, err
	}
	back := &gcsBackend{bucket: bucket, stall: opts.stall(), opts: opts.GCS}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch name {
		case "anonymous":
			back.anonymous, err = strconv.ParseBool(query.Get(name))
		case "endpoint":
			back.address, err = endpointURL(query.Get(name))
		default:
			return nil, invalid(fmt.Errorf("unknown parameter %q of a gs URL; known are anonymous, endpoint", name))
		}
		if err != nil {
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

// newClient speaks to the endpoint of the URL, else to STORAGE_EMULATOR_HOST,
// else to Google.
func (b *gcsBackend) newClient(ctx context.Context) (*storage.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	tuneTransport(transport)
	auth, err := b.authenticated(ctx, transport)
	if err != nil {
		return nil, err
	}
	watching := &watched{do: auth.RoundTrip, stall: b.stall}
	client := &http.Client{Transport: &gcsTransport{base: watching, back: b}}
	options := []option.ClientOption{option.WithHTTPClient(client), storage.WithDisabledClientMetrics()}
	if b.address != "" {
		options = append(options, option.WithEndpoint(b.address+"/storage/v1/"))
	}
	return storage.NewClient(ctx, options...)
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
	return b.address
}
