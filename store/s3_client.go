package store

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// connect makes the client at the first use, so that opening a store costs
// nothing and reads no files.
func (b *s3Backend) connect(ctx context.Context) (*s3.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	client, err := b.newClient(ctx)
	b.client = client
	return client, err
}

// renewedLately is how long after the last time new credentials count as new:
// many requests fail with the old ones at once.
const renewedLately = time.Minute

func (b *s3Backend) renew(ctx context.Context) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.renewed) < renewedLately {
		return true
	}
	client, err := b.newClient(ctx)
	if err != nil || b.client == nil || b.opts.anonymous {
		return false
	}
	before, err := b.client.Options().Credentials.Retrieve(ctx)
	now, nowErr := client.Options().Credentials.Retrieve(ctx)
	if nowErr != nil || err == nil && before.AccessKeyID == now.AccessKeyID && before.SessionToken == now.SessionToken {
		return false
	}
	b.client, b.renewed = client, time.Now()
	return true
}

func (b *s3Backend) newClient(ctx context.Context) (*s3.Client, error) {
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
	return s3.NewFromConfig(cfg, b.opts.apply, func(o *s3.Options) {
		o.HTTPClient = &watched{do: o.HTTPClient.Do, stall: b.stall}
	}), nil
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
	if o.keys.AccessKey != "" {
		list = append(list, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(
			string(o.keys.AccessKey), string(o.keys.SecretKey), string(o.keys.SessionToken))))
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
	to.ContinueHeaderThresholdBytes = -1 // a round trip for each part
	if o.unsigned(to.BaseEndpoint) {
		to.APIOptions = append(to.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
	}
}

// unsigned reports whether bodies go without a SHA-256 in the signature, which
// costs more than all else: where TLS guards them, on this machine, and where
// the user says so. Their CRC-32C is signed in any case.
func (o s3Options) unsigned(endpoint *string) bool {
	if o.unsignedBodies != nil {
		return *o.unsignedBodies
	}
	at, err := url.Parse(aws.ToString(endpoint))
	if err != nil || at.Scheme != "http" {
		return err == nil
	}
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
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
