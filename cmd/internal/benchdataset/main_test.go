package benchdataset

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// TestMain makes this binary a measurer of one command, or heirloom at one step, where it is called as such.
func TestMain(m *testing.M) {
	var err error
	if report := os.Getenv(usage.Variable); report != "" {
		err = usage.Report(context.Background(), os.Args[1:], report)
	} else if name := os.Getenv(stepVariable); name != "" {
		err = steps()[name](context.Background(), os.Args[1:])
	} else {
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
