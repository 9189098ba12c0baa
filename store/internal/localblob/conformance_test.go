package localblob

import (
	"testing"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree/dirtreetest"
)

func TestConformance(t *testing.T) {
	dirtreetest.Conformance(t, func(t *testing.T) dirtreetest.Open {
		dir := t.TempDir()
		return func() (driver.Bucket, error) { return Open(dir, nil) }
	})
}
