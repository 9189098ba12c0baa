package hdfsblob

import (
	"fmt"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree/dirtreetest"
)

func testConformance(t *testing.T, authority string) {
	var made atomic.Int64
	dirtreetest.Conformance(t, func(*testing.T) dirtreetest.Open {
		root := fmt.Sprintf("/conformance/%d", made.Add(1))
		return func() (driver.Bucket, error) { return Open(authority, root, nil) }
	})
}
