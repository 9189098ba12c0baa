package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestScriptsOnSlurm has a cluster of four nodes, which the scripts share, and a prefix of a bucket at $S3.
func TestScriptsOnSlurm(t *testing.T) {
	cluster, server := servers.StartSlurm(t, nil), servers.MinIO(t)
	params := scripts("testdata/slurm")
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Vars = append(append(env.Vars, cluster.Environ...), server.Environ...)
		env.Setenv("S3", server.URL(filepath.Base(env.WorkDir)))
		return local(env)
	}
	testscript.Run(t, params)
}

// TestNodeIsTakenAway has a cluster of its own, of which the script takes nodes away.
func TestNodeIsTakenAway(t *testing.T) {
	cluster := servers.StartSlurm(t, nil)
	params := scripts("testdata/slurmnode")
	local := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Vars = append(env.Vars, cluster.Environ...)
		return local(env)
	}
	params.Cmds["takenode"] = func(ts *testscript.TestScript, neg bool, args []string) { takeNode(ts, cluster, neg, args) }
	testscript.Run(t, params)
}

// takeNode RUN STORE CHECKPOINTS: when a run has so many checkpoints on two nodes, takes away that of its last replica, and lets
// it start again at once.
func takeNode(ts *testscript.TestScript, cluster *servers.Slurm, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: takenode RUN STORE CHECKPOINTS")
	}
	status := func() (s runner.AppStatus) {
		ts.Check(ts.Exec("heirloom", "status", args[0], "--store", args[1], "-o", "json"))
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
		return s
	}
	until(ts, args[2]+" checkpoints", func() bool {
		found, _ := filepath.Glob(filepath.Join(args[1], "runs", "*", "checkpoints", "*.json"))
		return fmt.Sprint(len(found)) == args[2]
	})
	before := status()
	replicas := before.Roles[0].Replicas
	last := replicas[len(replicas)-1].Hostname
	if last == "" || last == replicas[0].Hostname {
		ts.Fatalf("the replicas are on %q and %q", replicas[0].Hostname, last)
	}
	cluster.KillNode(last)
	until(ts, "a requeue", func() bool { return status().State == tracker.Pending })
	cluster.Release(before.JobID)
}

func until(ts *testscript.TestScript, what string, so func() bool) {
	for end := time.Now().Add(10 * time.Minute); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("not within the time: %s", what)
		}
	}
}
