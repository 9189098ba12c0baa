package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestPermissionsOnS3 gives the policies of docs/permissions.md to a server, and runs the commands of each role with
// them: what the role is for works, what it is not for is refused.
func TestPermissionsOnS3(t *testing.T) {
	server := servers.MinIO(t)
	roles := map[string][]string{"owner": server.Environ}
	for role, policy := range policies(t) {
		roles[role] = server.As(t, policy)
	}
	params := scripts("testdata/permissions")
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Vars = append(env.Vars, server.Environ...)
		env.Setenv("STORE", server.URL("team/store"))
		env.Setenv("OTHER", server.URL("team/other"))
		return setup(env)
	}
	params.Cmds["role"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 || roles[args[0]] == nil {
			ts.Fatalf("usage: role NAME")
		}
		ts.Setenv("AWS_SESSION_TOKEN", "")
		for _, entry := range roles[args[0]] {
			name, value, _ := strings.Cut(entry, "=")
			ts.Setenv(name, value)
		}
	}
	testscript.Run(t, params)
}

// policies are those of the page by role, for the prefix team/store.
func policies(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)### ([A-Z][a-z]+)\n\n```json\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		found[strings.ToLower(m[1])] = strings.NewReplacer("BUCKET", "heirloom", "PREFIX", "team/store").Replace(m[2])
	}
	if len(found) != 3 {
		t.Fatalf("the page has %d policies, want those of reader, writer and publisher", len(found))
	}
	return found
}
