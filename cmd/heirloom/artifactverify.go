package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// verifyFlags are what verify is asked for.
type verifyFlags struct {
	all, readData bool
}

// verifyParallel is how many artifacts are looked at at once.
const verifyParallel = 8

func newArtifactVerify(a *app) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify RUN[#NAME]...",
		Short: "check that artifacts are still there and as recorded",
		Long: `Check that artifacts are still there and have the size that was recorded; with
--read-data also that they have the SHA-256, for which all of their bytes are read.
Each is ok, missing, pruned (by "checkpoint prune"), of another size or digest,
unreachable (its store did not answer), or unknown (nothing was recorded to compare
it with).

Exit codes: 6 if the size or digest of any is wrong, else 3 if any is missing, else 7
if any is unreachable.`,
		Example: `  heirloom artifact verify train-x7f2#model --read-data
  heirloom artifact verify --all -o csv`,
		Args: func(c *cobra.Command, args []string) error {
			if f.all && len(args) == 0 {
				return nil
			}
			if f.all {
				return usagef(c.CommandPath(), "--all and %s are two wishes", args[0])
			}
			return atLeastOne("RUN[#NAME] or --all")(c, args)
		},
		ValidArgsFunction: a.completeArtifacts,
		RunE:              func(c *cobra.Command, args []string) error { return a.artifactVerify(c, args, f) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "the artifacts of all runs")
	c.Flags().BoolVar(&f.readData, "read-data", false, "read all bytes and compare their SHA-256")
	return c
}

func (a *app) artifactVerify(c *cobra.Command, args []string, f verifyFlags) error {
	format, found, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	list, err := found.wanted(c.Context(), args, f.all)
	if err != nil {
		return err
	}
	deleted, err := found.deleted(c.Context())
	if err != nil {
		return err
	}
	checks := make([]render.Check, len(list))
	group, ctx := errgroup.WithContext(c.Context())
	group.SetLimit(verifyParallel)
	for i, m := range list {
		group.Go(func() error {
			checks[i] = found.verify(ctx, m, f.readData, deleted)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := a.printList(render.Checks(checks), format); err != nil {
		return err
	}
	return judge(checks)
}

// wanted lists the artifacts to verify, in the order of the arguments or of the runs.
func (s *spots) wanted(ctx context.Context, args []string, all bool) ([]made, error) {
	var list []made
	for _, text := range args {
		some, err := s.madeBy(ctx, text)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	if !all {
		return list, nil
	}
	for run, err := range s.tracker.Runs(ctx, nil) {
		if err != nil {
			return nil, err
		}
		for _, artifact := range run.Artifacts {
			list = append(list, made{run.ID, artifact})
		}
	}
	return list, nil
}

// verify looks at one artifact.
func (s *spots) verify(ctx context.Context, m made, readData bool, deleted func(store.Key) bool) render.Check {
	c := render.Check{Run: m.run, Name: m.Name, Path: store.RedactURL(m.Path)}
	at, what, err := s.find(ctx, m)
	if at.store != nil {
		c.URL = at.url()
	}
	v, fault := right, ""
	if err == nil {
		v, fault, err = m.examine(ctx, at, what, readData, s.app.environ)
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrNotExist) && at.store == s.store && deleted(at.key):
		v, fault = pruned, "its checkpoint was deleted by heirloom checkpoint prune"
	case errors.Is(err, store.ErrNotExist):
		v, fault = missing, "it is not where it was recorded"
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrUnsupported):
		v, fault = unknown, oneLine(store.Redact(err.Error()))
	case errors.Is(err, store.ErrCorrupt):
		v, fault = wrongDigest, oneLine(store.Redact(err.Error()))
	default:
		v, fault = unreachable, oneLine(store.Redact(err.Error()))
	}
	c.Status, c.Detail = string(v), fault
	return c
}

// examine holds what lies at a spot against what was recorded.
func (m made) examine(ctx context.Context, at spot, what thing, readData bool, environ []string) (standing, string, error) {
	if want, ok := m.SizeBytes(); ok && !what.isDir && what.Size != want {
		return wrongSize, fmt.Sprintf("it has %d bytes, %d were recorded", what.Size, want), nil // needs no reading
	}
	mode := runner.HashSize
	if readData && len(m.proof()) > 0 {
		mode = runner.HashSHA256
	}
	d := runner.Describer{Store: at.store, Environ: environ, Hash: mode}
	found, err := d.Describe(ctx, m.Name, at.store.KeyURL(at.key))
	if err != nil {
		return "", "", err
	}
	v, fault := m.compare(found)
	return v, fault, nil
}

// judge turns the standings into the error of the command.
func judge(checks []render.Check) error {
	n := map[standing]int{}
	for _, c := range checks {
		n[standing(c.Status)]++
	}
	of := count(len(checks), "artifact")
	switch bad := n[wrongSize] + n[wrongDigest]; {
	case bad > 0:
		return &kindError{text: fmt.Sprintf("%d of %s: not as recorded", bad, of), kind: store.ErrCorrupt}
	case n[missing] > 0:
		return &kindError{text: fmt.Sprintf("%d of %s: missing", n[missing], of), kind: store.ErrNotExist}
	case n[unreachable] > 0:
		return &kindError{text: fmt.Sprintf("%d of %s: unreachable", n[unreachable], of), kind: store.ErrUnavailable}
	}
	return nil
}
