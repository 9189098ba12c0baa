package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What docs/python.md shows is run from top to bottom: a block behind "`name`:" is that file, one without a language holds
// commands.
func TestPythonPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/python.md")
	if err != nil {
		t.Fatal(err)
	}
	var script, files strings.Builder
	script.WriteString("[!unix] skip 'its paths are those of Unix'\n")
	blocks := regexp.MustCompile("(?ms)(?:`([a-z.]+)`(?: [a-z ]+)?:\n\n)?^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, block := range blocks {
		name, language, text := block[1], block[2], strings.ReplaceAll(block[3], "/data/", "data/")
		switch {
		case language == "" && name == "":
			for line := range strings.Lines(text) {
				fmt.Fprintf(&script, "exec %s", line)
			}
		case name != "":
			fmt.Fprintf(&files, "-- %s --\n%s", name, text)
		default:
			t.Errorf("a block of %s has no name", language)
		}
	}
	script.WriteString(`stdout 'torchx_utils_python-.*'
stdout 'here-.*'
capture ID stdout '(torchx_utils_python-[a-z0-9]+)'
exec heirloom show $ID --tracker data/tracker -o json
json metadata/lr 0.1
json artifacts/0/path s3://models/1.bin
exec heirloom runs --tracker data/tracker -o json
json runs/len 3
`)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "python.txtar"), []byte(script.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	python := servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	params := scripts(dir)
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PATH", filepath.Dir(python)+string(os.PathListSeparator)+env.Getenv("PATH"))
		return local(env)
	}
	testscript.Run(t, params)
}
