package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestScriptsOfTorchrun have torch's own torchrun in PATH.
func TestScriptsOfTorchrun(t *testing.T) {
	dir := servers.Torchrun(t)
	params := scripts("testdata/torchrun")
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
		return local(env)
	}
	testscript.Run(t, params)
}
