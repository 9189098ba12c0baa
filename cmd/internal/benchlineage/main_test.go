package benchlineage

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// TestMain makes this binary a measurer of one command where it is called as such.
func TestMain(m *testing.M) {
	report := os.Getenv(usage.Variable)
	if report == "" {
		os.Exit(m.Run())
	}
	if err := usage.Report(context.Background(), os.Args[1:], report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
