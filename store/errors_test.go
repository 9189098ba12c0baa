package store_test

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// A key with a line break does not break the sentence that names it.
func TestErrorQuotesKey(t *testing.T) {
	_, err := store.ParseKey("a\nb")
	if err == nil || !strings.HasPrefix(err.Error(), `parse key "a\nb": `) {
		t.Errorf("got %v", err)
	}
}
