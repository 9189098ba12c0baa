package localblob

import (
	"context"
	"net/http"
	"testing"

	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"
)

type harness struct {
	dir    string
	prefix string
}

func (h harness) MakeDriver(context.Context) (driver.Bucket, error) {
	b, err := Open(h.dir, nil)
	if err != nil || h.prefix == "" {
		return b, err
	}
	return driver.NewPrefixedBucket(b, h.prefix), nil
}

// A directory that does not exist is an empty bucket, so there is no such thing as a missing one.
func (harness) MakeDriverForNonexistentBucket(context.Context) (driver.Bucket, error) {
	return nil, nil
}
func (harness) HTTPClient() *http.Client         { return nil }
func (harness) SupportsCopy() bool               { return true }
func (harness) SupportsNonSlashDelimiters() bool { return true }
func (harness) Close()                           {}

func TestConformance(t *testing.T) {
	for _, prefix := range []string{"", "some/prefix/"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			drivertest.RunConformanceTests(t, func(_ context.Context, t *testing.T) (drivertest.Harness, error) {
				return harness{dir: t.TempDir(), prefix: prefix}, nil
			}, nil)
		})
	}
}
