package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestScriptsOnS3 has two prefixes of a bucket at $S3 and $COPY, of each script its own, and a bucket that does not exist at $MISSING.
func TestScriptsOnS3(t *testing.T) {
	server := servers.MinIO(t)
	missing := server
	missing.Bucket += "-missing"
	params := scripts("testdata/s3")
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Vars = append(env.Vars, server.Environ...)
		own := filepath.Base(env.WorkDir) // scripts run side by side
		env.Setenv("S3", server.URL(own))
		env.Setenv("COPY", server.URL(own+"-copy"))
		env.Setenv("MISSING", missing.URL("p"))
		return local(env)
	}
	testscript.Run(t, params)
}

// TestDemoEverywhere has a place on one kind of store after the other at $PLACE. S3 is among TestScriptsOnS3.
func TestDemoEverywhere(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (place string, environ []string){
		"local": func(t *testing.T) (string, []string) { return filepath.Join(t.TempDir(), "demo"), nil },
		"gcs": func(t *testing.T) (string, []string) {
			server := servers.FakeGCS(t)
			return server.URL("demo"), server.Environ
		},
		"hdfs": func(t *testing.T) (string, []string) {
			cluster := servers.Hadoop(t, nil)
			return cluster.URL("demo"), cluster.Environ
		},
		"dbfs": func(t *testing.T) (string, []string) {
			standIn := servers.DBFS(t)
			return standIn.URL("demo"), standIn.Environ
		},
		"mount": func(t *testing.T) (string, []string) {
			return "dbfs:/demo", []string{"HEIRLOOM_DBFS=mount", "HEIRLOOM_DBFS_MOUNT=" + servers.SequentialFUSE(t)}
		},
		"volume": func(t *testing.T) (string, []string) {
			standIn := servers.DBFS(t)
			return standIn.VolumeURL("demo"), standIn.Environ
		},
	} {
		t.Run(name, func(t *testing.T) {
			place, environ := start(t)
			params := scripts("testdata/places")
			local := params.Setup
			params.Setup = func(env *testscript.Env) error {
				env.Vars = append(env.Vars, environ...)
				env.Setenv("PLACE", place)
				return local(env)
			}
			testscript.Run(t, params)
		})
	}
}

// TestScriptsWithTorchX has a Python that has TorchX at $PYTHON.
func TestScriptsWithTorchX(t *testing.T) {
	python := servers.Python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	params := scripts("testdata/torchx")
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PYTHON", python)
		env.Setenv("PYTHONUTF8", "1")
		env.Setenv("LOGLEVEL", "ERROR")
		return local(env)
	}
	testscript.Run(t, params)
}

// copyStore FROM TO: copies every object, as any tool would that knows nothing of heirloom.
func copyStore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copystore FROM TO")
	}
	ctx := context.Background()
	from, err := store.Open(ctx, args[0], nil)
	ts.Check(err)
	defer from.Close()
	to, err := store.Open(ctx, args[1], nil)
	ts.Check(err)
	defer to.Close()
	for object, err := range from.List(ctx, "") {
		ts.Check(err)
		body, err := from.Get(ctx, object.Key)
		ts.Check(err)
		ts.Check(to.Put(ctx, object.Key, body))
	}
}

var (
	randomEnd = regexp.MustCompile(`^[a-z]+://torchx/(.*)-[a-z0-9]+$`)
	epoch     = regexp.MustCompile(`epoch-\d+`)
)

// shape FILE OUT: writes the edges of a lineage's JSON without what is random: "from -artifact-> to", sorted.
func shape(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shape FILE OUT")
	}
	var graph struct {
		Edges []struct{ From, To, Artifact string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &graph))
	var edges []string
	for _, e := range graph.Edges {
		name := func(id string) string { return randomEnd.ReplaceAllString(id, "$1") }
		edges = append(edges, fmt.Sprintf("%s -%s-> %s\n", name(e.From), epoch.ReplaceAllString(e.Artifact, "epoch-N"), name(e.To)))
	}
	slices.Sort(edges)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(edges, "")), 0o600))
}
