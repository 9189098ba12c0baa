package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// artifactFlags are what add artifact is told about an artifact.
type artifactFlags struct {
	kind  string
	pairs []string
	hash  string
}

func artifactKinds() []string {
	return []string{
		tracker.KindModel, tracker.KindCheckpoint, tracker.KindDataset,
		tracker.KindMetrics, tracker.KindLog, tracker.KindOther,
	}
}

func newAddArtifact(a *app) *cobra.Command {
	var f artifactFlags
	c := &cobra.Command{
		Use:   "artifact NAME PATH",
		Short: "record something the run made: a file, a directory or a URL",
		Long: `Record something the run made. PATH is a local file or directory, which stays where
it is and whose size and SHA-256 are recorded, or a URL, of which no more is
recorded unless --hash asks for it. An artifact of the same name is replaced.`,
		Example: `  heirloom add artifact model out/model.safetensors --kind model
  heirloom add artifact weights s3://bucket/weights.bin --metadata epochs=3
  heirloom add artifact table s3://bucket/table.parquet --hash size`,
		Args:              takes("NAME PATH"),
		ValidArgsFunction: completeArtifact,
		RunE:              func(c *cobra.Command, args []string) error { return a.addArtifact(c, args[0], args[1], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.kind, "kind", "", "what it is, `KIND`: "+strings.Join(artifactKinds(), ", "))
	flags.StringArrayVar(&f.pairs, "metadata", nil, "`K=V` or K:=JSON, more about it; may be repeated")
	flags.StringVar(&f.hash, "hash", "", "what to record, `MODE` sha256, size or none (HEIRLOOM_HASH; default sha256, of a URL none)")
	register(c, "kind", fixed(artifactKinds()))
	register(c, "hash", fixed(hashModes()))
	return c
}

// completeArtifact completes PATH; a NAME is the user's to choose.
func completeArtifact(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return files(c, args, typed)
}

func (a *app) addArtifact(c *cobra.Command, name, path string, f artifactFlags) error {
	settings, err := a.settings(c.Context(), map[string]string{config.Hash: f.hash})
	if err != nil {
		return err
	}
	if f.kind != "" && !slices.Contains(artifactKinds(), f.kind) {
		return usagef(c.CommandPath(), "unknown kind %q, known are %s", f.kind, strings.Join(artifactKinds(), ", "))
	}
	metadata, err := parsePairs(f.pairs, false)
	if err != nil {
		return err
	}
	t, err := a.target(c)
	if err != nil {
		return err
	}
	hash := runner.HashMode(settings.Get(config.Hash).Text)
	if f.hash == "" && isRemote(path) {
		hash = runner.HashNone // nobody asked to have it fetched
	}
	d := runner.Describer{Store: t.store, Dir: t.dir, Environ: a.environ, Hash: hash}
	artifact, err := d.Describe(c.Context(), name, path)
	if err != nil {
		return fmt.Errorf("add artifact %s: %w", name, err)
	}
	if f.kind != "" {
		artifact.Metadata.Set(tracker.KeyKind, f.kind)
	}
	artifact.Metadata.Merge(metadata)
	if err := t.writer.AddArtifact(c.Context(), t.run, artifact); err != nil {
		return err
	}
	return a.added(c.Context(), t, "artifact %s at %s", name, store.RedactURL(artifact.Path))
}

// isRemote says whether path is a URL of something that is not on this machine.
func isRemote(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && len(scheme) > 1 && !strings.EqualFold(scheme, "file")
}
