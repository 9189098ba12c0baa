package servers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Missing skips the test because what goes by one of these names is not to be
// had, or fails it if HEIRLOOM_MUST_RUN lists one of them. fix is a command.
func Missing(t testing.TB, reason error, fix string, names ...string) {
	t.Helper()
	must := strings.Split(os.Getenv("HEIRLOOM_MUST_RUN"), ",")
	for _, name := range names {
		if slices.Contains(must, name) {
			t.Fatalf("%s must run (HEIRLOOM_MUST_RUN): %v\nto mend it: %s", name, reason, fix)
		}
	}
	t.Skipf("without %s: %v\nto mend it: %s", strings.Join(names, ", "), reason, fix)
}

// cacheDir is where servers and environments are kept between test runs.
func cacheDir() (string, error) {
	if dir := os.Getenv("HEIRLOOM_TEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "heirloom-test"), nil
}
