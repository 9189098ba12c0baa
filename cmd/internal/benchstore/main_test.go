package benchstore

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// moveVariable makes this binary a mover of trees, "up" or "down".
const moveVariable = "BENCH_MOVE"

func TestMain(m *testing.M) {
	way, report := os.Getenv(moveVariable), os.Getenv(reportVariable)
	var err error
	switch {
	case report != "":
		err = runMeasured(os.Args[1:], report)
	case way != "":
		err = moveTree(context.Background(), way)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func moveTree(ctx context.Context, way string) error {
	s, err := store.Open(ctx, os.Getenv("BENCH_URL"), &store.Options{Environ: os.Environ()})
	if err != nil {
		return err
	}
	defer s.Close()
	if way == "up" {
		_, err = s.UploadTree(ctx, os.Getenv("BENCH_DIR"), "", nil)
	} else {
		_, err = s.DownloadTree(ctx, "", os.Getenv("BENCH_DIR"), nil)
	}
	return err
}
