// Command heirloom records what a job used and made, and answers where things came from and what came of them.
package main

import (
	"context"
	"os"

	_ "github.com/heirloom-ml/heirloom/cmd/internal/heap" // no collection before there is something to collect
)

func main() {
	os.Exit(execute(context.Background(), process{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), args: os.Args[1:], workdir: os.Getwd,
	}))
}
