package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
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
it is and whose size is recorded (and the SHA-256 of a file), or a URL, which is
recorded as it is. An artifact of the same name is replaced.`,
		Example: `  heirloom add artifact model out/model.safetensors --kind model
  heirloom add artifact weights s3://bucket/weights.bin --metadata epochs=3`,
		Args: takes("NAME PATH"),
		RunE: func(c *cobra.Command, args []string) error { return a.addArtifact(c, args[0], args[1], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.kind, "kind", "", "what it is, `KIND`: "+strings.Join(artifactKinds(), ", "))
	flags.StringArrayVar(&f.pairs, "metadata", nil, "`K=V` or K:=JSON, more about it; may be repeated")
	flags.StringVar(&f.hash, "hash", "", "what to record of a file, `MODE` sha256, size or none (HEIRLOOM_HASH; default sha256)")
	return c
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
	if f.kind != "" {
		metadata.Set(tracker.KeyKind, f.kind)
	}
	url, err := t.describe(c.Context(), path, settings.Get(config.Hash).Text, metadata)
	if err != nil {
		return fmt.Errorf("add artifact %s: %w", name, err)
	}
	artifact := tracker.Artifact{Name: name, Path: url}
	if metadata.Len() > 0 {
		artifact.Metadata = metadata
	}
	if err := t.tracker.AddArtifact(c.Context(), t.run, artifact); err != nil {
		return err
	}
	return a.added(t, "artifact %s at %s", name, url)
}

// describe fills in the metadata of an artifact at path, and returns its full URL. hash is sha256, size or none.
func (t target) describe(ctx context.Context, path, hash string, metadata *tracker.Metadata) (string, error) {
	url, err := store.CanonicalURI(store.RedactURL(path), t.dir)
	if err != nil {
		return "", err
	}
	if root := strings.TrimSuffix(t.store.KeyURL(""), "/") + "/"; strings.HasPrefix(url, root) {
		metadata.Set(tracker.KeyKey, strings.TrimPrefix(url, root))
	}
	file, local := strings.CutPrefix(url, "file://")
	if !local {
		return url, nil
	}
	info, err := os.Stat(filepath.FromSlash(file))
	switch {
	case err != nil:
		return "", err
	case hash == "none":
		return url, nil
	case info.IsDir():
		size, err := dirSize(ctx, file)
		metadata.Set(tracker.KeySizeBytes, size)
		return url, err
	case !info.Mode().IsRegular():
		return "", invalidf("%s is neither a file nor a directory", file)
	}
	metadata.Set(tracker.KeySizeBytes, info.Size())
	if hash != "sha256" {
		return url, nil
	}
	sum, err := fileSum(ctx, file)
	metadata.Set(tracker.KeySHA256, sum)
	return url, err
}

// dirSize adds up the regular files below dir, in bytes.
func dirSize(ctx context.Context, dir string) (int64, error) {
	var size int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		return ctx.Err()
	})
	return size, err
}

// fileSum is the SHA-256 of a file, in hexadecimal.
func fileSum(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.Close() })
	defer stop()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
