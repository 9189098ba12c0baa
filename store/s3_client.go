package store

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

const (
	dialTimeout   = 3 * time.Second
	tlsTimeout    = 5 * time.Second
	headerTimeout = 20 * time.Second // from the end of a request to the first byte of its answer
	idleConns     = 128
)

// connect makes the client at the first use, so that opening a store costs
// nothing and reads no files.
func (b *s3Backend) connect(ctx context.Context) (*s3.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	cfg, err := config.LoadDefaultConfig(context.WithoutCancel(ctx), b.opts.load()...)
	if err != nil {
		return nil, &Error{Kind: ErrInvalid, Err: fmt.Errorf("the AWS configuration: %w", err)}
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1" // as other S3 tools do
	}
	if b.opts.anonymous {
		cfg.Credentials = aws.AnonymousCredentials{}
	} else if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, credentialError(ctx, err)
	}
	b.client = s3.NewFromConfig(cfg, b.opts.apply)
	return b.client, nil
}

func credentialError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Kind: ErrPermission, Err: fmt.Errorf("no AWS credentials were found in the environment, the profile or from a role: %w", brief(err))}
}

// load says how the SDK's chain is read.
func (o s3Options) load() []func(*config.LoadOptions) error {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(tuneTransport)
	list := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client),
		config.WithLogger(logging.Nop{}),                                   // a library prints nothing
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }), // Store retries, and counts
	}
	if o.region != "" {
		list = append(list, config.WithRegion(o.region))
	}
	if o.profile != "" {
		list = append(list, config.WithSharedConfigProfile(o.profile))
	}
	return list
}

// apply sets what belongs to S3 alone.
func (o s3Options) apply(to *s3.Options) {
	if o.endpoint != "" {
		to.BaseEndpoint = aws.String(o.endpoint)
	}
	// Servers of one's own rarely answer to bucket.host names.
	to.UsePathStyle = to.BaseEndpoint != nil
	if o.pathStyle != nil {
		to.UsePathStyle = *o.pathStyle
	}
	if o.sendSums != 0 {
		to.RequestChecksumCalculation = o.sendSums
	}
	if o.requireSums != 0 {
		to.ResponseChecksumValidation = o.requireSums
	}
	to.DisableLogOutputChecksumValidationSkipped = true
}

func tuneTransport(t *http.Transport) {
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConns, idleConns
	t.TLSHandshakeTimeout = tlsTimeout
	t.ResponseHeaderTimeout = headerTimeout
}

// endpoint names the far side in errors and for fsspec: the URL of an S3 server
// of one's own, "" for Amazon's.
func (b *s3Backend) endpoint() string {
	b.mu.Lock()
	client := b.client
	b.mu.Unlock()
	if client == nil || b.opts.endpoint != "" {
		return b.opts.endpoint
	}
	return aws.ToString(client.Options().BaseEndpoint)
}
