// Command heirloom records what a job used and made, and answers where things came from and what came of them.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(execute(context.Background(), process{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), args: os.Args[1:], workdir: os.Getwd,
	}))
}
