package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/tracker"
)

// ring DIR N: a tracker root as TorchX writes it, of N runs run-0000 … each of which used a model of the one before, the
// first one that of the last.
func ring(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ring DIR N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	id := func(i int) string { return tracker.RunID(fmt.Sprintf("local://s/run-%04d", i%n)).Encode() }
	for i := range n {
		dir := filepath.Join(ts.MkAbs(args[0]), id(i+1), "sources")
		ts.Check(os.MkdirAll(dir, 0o777))
		ts.Check(os.WriteFile(filepath.Join(dir, id(i)), []byte("model\n"), 0o666))
	}
}
