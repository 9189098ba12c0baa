package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is what the command version prints; its JSON fields are only ever added to.
type versionInfo struct {
	Version  string `json:"version"`  // the module's version, or "devel"
	Commit   string `json:"commit"`   // "" = built outside a repository
	Modified bool   `json:"modified"` // the work tree differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"` // "linux/amd64"
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, commit and Go version",
		Args:  takes(""),
		RunE: func(*cobra.Command, []string) error {
			if _, err := a.format(documentFormats()); err != nil {
				return err
			}
			v := readVersion()
			if a.wantsJSON() {
				return a.printJSON(v)
			}
			commit := cmp.Or(v.Commit, "unknown")
			if v.Modified {
				commit += " (modified)"
			}
			_, err := fmt.Fprintf(a.stdout, "heirloom %s\ncommit %s\n%s %s\n", v.Version, commit, v.Go, v.Platform)
			return err
		},
	}
}

// readVersion takes all from what the Go tool wrote into the binary.
func readVersion() versionInfo {
	v := versionInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if build.Main.Version != "" && build.Main.Version != "(devel)" {
		v.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
