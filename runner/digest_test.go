package runner

import (
	"testing"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The digest of a tree is that of its bytes, not of the order in which a file system or a bucket lists it.
func TestTreeDigestIsTheSameEverywhere(t *testing.T) {
	digest := func(paths ...string) string {
		var sum tree
		for _, path := range paths {
			sum.add(path, pyjson.NewObject(pyjson.Member{Key: tracker.KeySHA256, Value: path}))
		}
		m := &pyjson.Object{}
		sum.describe(m, HashSHA256)
		return m.Text(KeyTreeSHA256)
	}
	walked, listed := digest("a/b", "a-b"), digest("a-b", "a/b")
	if walked == "" || walked != listed {
		t.Errorf("%q walked, %q listed", walked, listed)
	}
}
