package dbfsblob

import (
	"context"
	"net/http"
	"testing"

	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/drivertest"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

type harness struct {
	root, prefix string
	config       Config
}

func (h harness) MakeDriver(context.Context) (driver.Bucket, error) {
	b, err := Open(h.root, h.config)
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

// roots are a directory in DBFS and one in a volume, which take one API each.
var roots = map[string]string{"dbfs": "/some/dir", "volume": "/Volumes/main/default/vol/some/dir"}

func TestConformance(t *testing.T) {
	for name, root := range roots {
		for _, prefix := range []string{"", "some/prefix/"} {
			t.Run(name+" prefix "+prefix, func(t *testing.T) {
				drivertest.RunConformanceTests(t, func(_ context.Context, t *testing.T) (drivertest.Harness, error) {
					server := servers.DBFS(t)
					return harness{root: root, prefix: prefix, config: Config{Host: server.Host, Token: server.Token}}, nil
				}, nil)
			})
		}
	}
}
