package benchlineage

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// TestMain makes this binary a measurer of one command, or one that fills an index, where it is called as such.
func TestMain(m *testing.M) {
	report, index := os.Getenv(usage.Variable), os.Getenv(fillVariable)
	var err error
	switch {
	case report != "":
		err = usage.Report(context.Background(), os.Args[1:], report)
	case index != "":
		err = fillVirtual(context.Background(), index, os.Args[1:])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
