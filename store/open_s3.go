package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// S3Options are credentials, which no URL may hold. Without them the SDK's own
// chain counts: AWS_* variables, profiles, roles.
type S3Options struct {
	// AccessKey and SecretKey belong together. They win over the chain and the
	// profile of a URL, but not over anonymous=true.
	AccessKey, SecretKey Secret
	// SessionToken goes with keys that are valid for a time.
	SessionToken Secret
}

// s3Options are what the query of an s3 URL may say, and credentials.
type s3Options struct {
	keys        S3Options
	endpoint    string // "" for Amazon's
	region      string
	profile     string
	anonymous   bool
	pathStyle   *bool // nil is true at an endpoint of one's own
	encryption  string
	kmsKey      string
	sendSums    aws.RequestChecksumCalculation
	requireSums aws.ResponseChecksumValidation

	// unconditional says that the server ignores If-None-Match and If-Match.
	unconditional  bool
	unsignedBodies *bool // nil is true over TLS and on this machine
}

// s3Parameter is one name that the query of an s3 URL may hold.
type s3Parameter struct {
	name string
	set  func(o *s3Options, value string) error
}

func s3Parameters() []s3Parameter {
	return []s3Parameter{
		{"anonymous", func(o *s3Options, v string) (err error) { o.anonymous, err = strconv.ParseBool(v); return err }},
		{"conditional_writes", func(o *s3Options, v string) error {
			b, err := strconv.ParseBool(v)
			o.unconditional = !b
			return err
		}},
		{"endpoint", func(o *s3Options, v string) (err error) { o.endpoint, err = endpointURL(v); return err }},
		{"kmskeyid", func(o *s3Options, v string) error { o.kmsKey = v; return nil }},
		{"profile", func(o *s3Options, v string) error { o.profile = v; return nil }},
		{"region", func(o *s3Options, v string) error { o.region = v; return nil }},
		{"request_checksum_calculation", (*s3Options).setSendSums},
		{"response_checksum_validation", (*s3Options).setRequireSums},
		{"ssetype", func(o *s3Options, v string) error { o.encryption = v; return nil }},
		{"unsigned_payload", func(o *s3Options, v string) error {
			b, err := strconv.ParseBool(v)
			o.unsignedBodies = &b
			return err
		}},
		{"use_path_style", func(o *s3Options, v string) error {
			b, err := strconv.ParseBool(v)
			o.pathStyle = &b
			return err
		}},
	}
}

// allows refuses a write under a condition where the user says that the server
// knows none: it would overwrite in silence.
func (o *s3Options) allows(c condition) error {
	if o.unconditional && !c.none() {
		return fmt.Errorf("%w: by conditional_writes=false in its URL this server knows no condition of a write", ErrUnsupported)
	}
	return nil
}

// sums reports whether checksums go with what is sent.
func (o *s3Options) sums() bool { return o.sendSums != aws.RequestChecksumCalculationWhenRequired }

func (o *s3Options) setSendSums(v string) error {
	switch v {
	case "when_supported":
		o.sendSums = aws.RequestChecksumCalculationWhenSupported
	case "when_required":
		o.sendSums = aws.RequestChecksumCalculationWhenRequired
	default:
		return errors.New("it is when_supported or when_required")
	}
	return nil
}

func (o *s3Options) setRequireSums(v string) error {
	switch v {
	case "when_supported":
		o.requireSums = aws.ResponseChecksumValidationWhenSupported
	case "when_required":
		o.requireSums = aws.ResponseChecksumValidationWhenRequired
	default:
		return errors.New("it is when_supported or when_required")
	}
	return nil
}

// endpointURL is the URL of a server of one's own, without a slash at the end.
func endpointURL(v string) (string, error) {
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return "", errors.New("it is written like http://127.0.0.1:9000")
	case u.User != nil:
		return "", errors.New("it must hold no password; credentials come from the environment")
	}
	return strings.TrimSuffix(v, "/"), nil
}

// openS3 reads bucket/prefix?parameters. No client is made yet.
func openS3(_ context.Context, rest string, opts Options) (*Store, error) {
	bucket, prefix, query, err := splitBucket("s3", rest)
	if err != nil {
		return nil, err
	}
	o := s3Options{keys: opts.S3}
	if (o.keys.AccessKey == "") != (o.keys.SecretKey == "") || o.keys.SessionToken != "" && o.keys.SecretKey == "" {
		return nil, invalid(errors.New("of the S3 credentials one is missing: access key and secret key belong together"))
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err := o.set(name, query.Get(name)); err != nil {
			return nil, invalid(err)
		}
	}
	back := &s3Backend{bucket: bucket, opts: o, stall: opts.stall()}
	return newStore(place{scheme: "s3", root: bucket, query: queryString(query)}, prefix, back, opts), nil
}

func (o *s3Options) set(name, value string) error {
	var known []string
	for _, p := range s3Parameters() {
		if p.name == name {
			if err := p.set(o, value); err != nil {
				return fmt.Errorf("parameter %s=%q of an s3 URL: %w", name, RedactURL(value), err)
			}
			return nil
		}
		known = append(known, p.name)
	}
	return fmt.Errorf("unknown parameter %q of an s3 URL; known are %s", name, strings.Join(known, ", "))
}

// splitBucket cuts what stands behind "s3://" or "gs://". The path stands for
// itself, without percent escapes.
func splitBucket(scheme, rest string) (bucket, prefix string, query url.Values, err error) {
	rest, raw, _ := strings.Cut(rest, "?")
	bucket, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.Trim(prefix, "/")
	switch {
	case bucket == "":
		return "", "", nil, invalid(fmt.Errorf("the URL names no bucket; it is written %s://bucket/prefix", scheme))
	case strings.ContainsAny(bucket, "@: "): // not shown: it may hold a password
		return "", "", nil, invalid(fmt.Errorf("what stands for the bucket is no name of one; the URL is written %s://bucket/prefix", scheme))
	}
	if prefix != "" {
		if err := checkKey(prefix); err != nil {
			return "", "", nil, invalid(err)
		}
	}
	query, err = url.ParseQuery(raw)
	if err != nil {
		return "", "", nil, invalid(fmt.Errorf("the parameters of the URL: %w", err))
	}
	return bucket, prefix, query, nil
}
