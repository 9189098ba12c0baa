//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

// nobody is for systems where a program can be given another user's rights; scripts that need it skip here.
func nobody(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("nobody: not on this system") }

func member(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there are no numbered users here")
}
