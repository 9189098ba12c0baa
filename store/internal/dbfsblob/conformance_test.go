package dbfsblob

import (
	"testing"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree/dirtreetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// roots are a directory in DBFS and one in a volume, which take one API each.
var roots = map[string]string{"dbfs": "/some/dir", "volume": "/Volumes/main/default/vol/some/dir"}

func TestConformance(t *testing.T) {
	for name, root := range roots {
		t.Run(name, func(t *testing.T) {
			dirtreetest.Conformance(t, func(t *testing.T) dirtreetest.Open {
				server := servers.DBFS(t)
				return func() (driver.Bucket, error) {
					return Open(root, Config{Host: server.Host, Token: server.Token})
				}
			})
		})
	}
}
