package store

import (
	"context"
	"time"
)

// defaultAttempts is how often a request is tried in all while the backend
// answers but says that it is unavailable.
const defaultAttempts = 6

const defaultStall = 30 * time.Second

// Options adjust Open. Nil and the zero value are the defaults.
type Options struct {
	// Environ is the environment the store may look at, as "NAME=value". Nil is
	// an empty one. The credential chains of the cloud SDKs read their own.
	Environ []string

	// Intercept is called around every request, retries included, and must call
	// do at most once; its error counts as the request's. It serves to count and
	// to inject faults. It may be called from several goroutines.
	Intercept func(ctx context.Context, r Request, do func() error) error

	// Shared makes a local directory that Open's store has to create writable for
	// its group, and keeps it so below.
	Shared bool

	// StallTimeout is how long nothing may move on a connection to S3 or GCS before
	// the request counts as broken off and is tried again. 0 is 30 s.
	StallTimeout time.Duration

	// RetryDelay is about how long the second try of a request waits; each one
	// more waits twice as long, up to 5 s. Where the far side says how long to
	// wait, that holds. 0 is 100 ms.
	RetryDelay time.Duration

	// MaxAttempts bounds the tries of one request. 0 is 6.
	MaxAttempts int

	// S3, GCS and HDFS are for s3, gs and hdfs URLs, DBFS for dbfs URLs and the
	// places where Databricks mounts what they name.
	S3   S3Options
	GCS  GCSOptions
	HDFS HDFSOptions
	DBFS DBFSOptions

	// What Horovod calls the overrides of a store's paths; see Layout.
	TrainPath, ValPath, TestPath, RunsPath string
	SaveRuns                               *bool
	CheckpointFilename                     string
}

// Request is one exchange with the backend.
type Request struct {
	// Op is get, put, create, list, stat, delete or append, or a step of a long
	// write: begin, part, complete or abort.
	Op    string
	Key   string // of the object, or the prefix of a listing, without the store's own prefix
	Bytes int64  // that a write carries, 0 else
}

func (o *Options) attempts() int {
	if o.MaxAttempts > 0 {
		return o.MaxAttempts
	}
	return defaultAttempts
}

func (o *Options) stall() time.Duration {
	if o.StallTimeout > 0 {
		return o.StallTimeout
	}
	return defaultStall
}

func (o *Options) retryDelay() time.Duration {
	if o.RetryDelay > 0 {
		return o.RetryDelay
	}
	return firstDelay
}
