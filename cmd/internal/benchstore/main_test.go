package benchstore

import (
	"fmt"
	"os"
	"testing"
)

// TestMain makes this binary a measurer of one command where it is called as such.
func TestMain(m *testing.M) {
	report := os.Getenv(reportVariable)
	if report == "" {
		os.Exit(m.Run())
	}
	if err := runMeasured(os.Args[1:], report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
