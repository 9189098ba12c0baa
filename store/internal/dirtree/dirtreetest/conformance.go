// Package dirtreetest tests the drivers over trees of directories.
package dirtreetest

import (
	"context"
	"net/http"
	"testing"

	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"
)

// Open opens one bucket, again and again.
type Open func() (driver.Bucket, error)

// Conformance runs gocloud's suite, at the root of buckets and below a prefix. fresh makes an empty bucket, which may
// end with the test.
func Conformance(t *testing.T, fresh func(t *testing.T) Open) {
	for _, prefix := range []string{"", "some/prefix/"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			drivertest.RunConformanceTests(t, func(_ context.Context, t *testing.T) (drivertest.Harness, error) {
				return harness{open: fresh(t), prefix: prefix}, nil
			}, nil)
		})
	}
}

type harness struct {
	open   Open
	prefix string
}

func (h harness) MakeDriver(context.Context) (driver.Bucket, error) {
	b, err := h.open()
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
