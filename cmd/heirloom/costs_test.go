package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The table of docs/costs.md is what the commands in it cost, one after the other.
func TestCosts(t *testing.T) {
	page, err := os.ReadFile("../../docs/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `heirloom ([^`]+)` \\| ([0-9]+) \\|").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	var script strings.Builder
	script.WriteString("[!unix] skip 'another file system lists otherwise'\n")
	for _, row := range rows {
		fmt.Fprintf(&script, "exec heirloom --stats %s\nstderr '^requests: %s[ ,]'\n", row[1], row[2])
	}
	script.WriteString("-- f.txt --\ntext\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "costs.txtar"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	params := scripts(dir)
	params.ContinueOnError = true
	testscript.Run(t, params)
}
