package servers

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

const (
	accessKey = "heirloomtest"
	secretKey = "heirloomtest-secret"
	region    = "us-east-1"
)

// S3 is a server that speaks S3, with one empty bucket.
type S3 struct {
	Endpoint, Bucket     string
	AccessKey, SecretKey string
	Environ              []string // what a child process needs, as "NAME=value"
	Dir                  string   // of versitygw: the bucket is a directory of this one, an object a file
}

// URL is the address of a store below prefix, which may be empty.
func (s S3) URL(prefix string) string {
	return "s3://" + strings.TrimSuffix(s.Bucket+"/"+prefix, "/") +
		"?endpoint=" + url.QueryEscape(s.Endpoint) + "&region=" + region + "&use_path_style=true"
}

// MinIO starts a MinIO server and sets the AWS_ variables of this process to it
// for the time of the test.
func MinIO(t testing.TB) S3 {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	return startS3(t, minio(), address, "/minio/health/ready",
		[]string{"server", t.TempDir(), "--address", address, "--console-address", fmt.Sprintf("127.0.0.1:%d", freePort(t))},
		[]string{"MINIO_ROOT_USER=" + accessKey, "MINIO_ROOT_PASSWORD=" + secretKey, "MINIO_UPDATE=off", "MINIO_CALLHOME_ENABLE=off"})
}

// VersityGW starts a Versity S3 gateway on a local directory and sets the AWS_
// variables of this process to it for the time of the test.
func VersityGW(t testing.TB) S3 {
	t.Helper()
	address, dir := fmt.Sprintf("127.0.0.1:%d", freePort(t)), t.TempDir()
	s := startS3(t, versitygw(), address, "/",
		[]string{"--port", address, "posix", dir},
		[]string{"ROOT_ACCESS_KEY=" + accessKey, "ROOT_SECRET_KEY=" + secretKey})
	s.Dir = dir
	return s
}

func minio() program {
	return program{name: "minio", pkg: "github.com/minio/minio", version: "v0.0.0-20260212201848-7aac2a2c5b7c"}
}

func versitygw() program {
	return program{name: "versitygw", pkg: "github.com/versity/versitygw/cmd/versitygw", version: "v1.8.0"}
}

func startS3(t testing.TB, p program, address, ready string, args, environ []string) S3 {
	t.Helper()
	path, err := p.path()
	if err != nil {
		Missing(t, err, p.install(), "s3", p.name)
	}
	s := S3{Endpoint: "http://" + address, Bucket: "heirloom", AccessKey: accessKey, SecretKey: secretKey}
	start(t, p.name, path, args, environ, s.Endpoint+ready)
	s.setEnviron(t)
	return s.WithBucket(t, s.Bucket)
}

// WithBucket makes another, empty bucket on the same server.
func (s S3) WithBucket(t testing.TB, name string) S3 {
	t.Helper()
	client := s3.New(s3.Options{
		BaseEndpoint: &s.Endpoint, Region: region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		Retryer:     patient(),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatalf("create the bucket %s: %v", name, err)
	}
	s.Bucket = name
	return s
}

// As returns the environment of somebody who may do no more than policy, a
// document of IAM, allows. The server must be MinIO.
func (s S3) As(t testing.TB, policy string) []string {
	t.Helper()
	client := sts.New(sts.Options{
		BaseEndpoint: &s.Endpoint, Region: region, Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		Retryer: patient(),
	})
	out, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		Policy: &policy, RoleArn: aws.String("arn:minio:iam:::role/test"), RoleSessionName: aws.String("test"),
	})
	if err != nil {
		t.Fatalf("take on a role: %v", err)
	}
	return []string{
		"AWS_ACCESS_KEY_ID=" + *out.Credentials.AccessKeyId, "AWS_SECRET_ACCESS_KEY=" + *out.Credentials.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + *out.Credentials.SessionToken,
	}
}

// patient waits for a server that answers, but does not yet know its users.
func patient() aws.Retryer {
	starting := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
		if strings.Contains(err.Error(), "Server not initialized") {
			return aws.TrueTernary
		}
		return aws.UnknownTernary // the others know
	})
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 300, time.Second, ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{starting}, o.Retryables...)
	})
}

// setEnviron points the AWS tools of this process and of its children at s, and
// away from the files of the user.
func (s *S3) setEnviron(t testing.TB) {
	none := filepath.Join(t.TempDir(), "none")
	for _, v := range [][2]string{
		{"AWS_ACCESS_KEY_ID", s.AccessKey}, {"AWS_SECRET_ACCESS_KEY", s.SecretKey}, {"AWS_SESSION_TOKEN", ""},
		{"AWS_REGION", region}, {"AWS_ENDPOINT_URL", s.Endpoint}, {"AWS_EC2_METADATA_DISABLED", "true"},
		{"AWS_PROFILE", ""}, {"AWS_CONFIG_FILE", none}, {"AWS_SHARED_CREDENTIALS_FILE", none},
	} {
		t.Setenv(v[0], v[1])
		s.Environ = append(s.Environ, v[0]+"="+v[1])
	}
}
