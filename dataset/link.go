package dataset

import (
	"context"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Maker is the run that stages a dataset, so that lineage knows where it came
// from. The zero value is none.
type Maker struct {
	Run      tracker.RunID `json:"run"`
	Artifact string        `json:"artifact"` // what the dataset is called among the run's artifacts
}

// Recorder is what records need of tracker.AppRun.
type Recorder interface {
	ID() tracker.RunID
	AddArtifact(ctx context.Context, a tracker.Artifact) error
	AddSource(ctx context.Context, s tracker.Source) error
}

// ArtifactName is what a dataset is called among the artifacts of the run that
// staged it: its name and version, or else the beginning of its fingerprint.
func ArtifactName(ref Ref, fingerprint store.Digest) string {
	if ref.IsLatest() {
		return fmt.Sprintf("dataset-%.12s", fingerprint)
	}
	return ref.String()
}

func (d *Dataset) maker() Maker {
	if d.Commit.Maker == nil {
		return Maker{}
	}
	return *d.Commit.Maker
}

// RecordMade records that a run staged the dataset: it is an artifact of the run,
// and the sources of its spec are inputs of the run.
func (d *Dataset) RecordMade(ctx context.Context, s *store.Store, run Recorder, spec Spec) error {
	for _, source := range spec.Sources {
		input, err := source.input()
		if err != nil {
			return err
		}
		if err := run.AddSource(ctx, input); err != nil {
			return err
		}
	}
	train := d.Commit.Splits[Train]
	var rows, bytes int64
	for _, split := range d.Commit.Splits {
		rows, bytes = rows+split.Rows, bytes+split.Bytes
	}
	return run.AddArtifact(ctx, tracker.Artifact{Name: d.maker().Artifact, Path: train.Location(s), Metadata: pyjson.NewObject(
		pyjson.Member{Key: tracker.KeyKey, Value: string(train.Dir)},
		pyjson.Member{Key: tracker.KeyKind, Value: tracker.KindDataset},
		pyjson.Member{Key: tracker.KeySizeBytes, Value: bytes},
		pyjson.Member{Key: "rows", Value: rows},
		pyjson.Member{Key: "fingerprint", Value: string(d.Commit.Fingerprint)},
	)})
}

func (s Source) input() (tracker.Source, error) {
	known := tracker.Source{URI: s.URI, Version: s.Version, Digest: string(s.Digest)}
	if ref, err := ParseRef(s.URI); err == nil && !ref.IsLatest() {
		known.URI, known.Name, known.Version = "", ref.Name, ref.Version
	}
	return tracker.NewInput(known, "")
}

// RecordUse records that a run used the dataset: by its name, if it has one, and
// as the artifact of the run that staged it, if there is one. A run that stages
// does not use what it makes.
func (d *Dataset) RecordUse(ctx context.Context, s *store.Store, run Recorder, ref Ref) error {
	made := d.maker()
	if made.Run == run.ID() {
		return nil
	}
	if made.Run != "" {
		if err := run.AddSource(ctx, tracker.Source{ID: made.Run, Artifact: made.Artifact}); err != nil || ref.IsLatest() {
			return err
		}
	}
	known := tracker.Source{URI: d.Commit.Splits[Train].Location(s), Digest: string(d.Commit.Fingerprint)}
	if !ref.IsLatest() {
		known.Name, known.Version = ref.Name, ref.Version
	}
	input, err := tracker.NewInput(known, "")
	if err != nil {
		return err
	}
	return run.AddSource(ctx, input)
}

// FindMaker finds the run that staged the dataset of a name, also of one that was
// pruned since: two requests, and a listing where the version is left open. maker
// is nil if it was staged outside of a run. The error has kind store.ErrNotExist
// if there is no such name.
func FindMaker(ctx context.Context, s *store.Store, ref Ref) (label Label, maker *Maker, err error) {
	if ref.IsLatest() {
		label, err = Resolve(ctx, s, ref)
	} else {
		label, err = Labelled(ctx, s, ref)
	}
	if err != nil {
		return Label{}, nil, err
	}
	c, err := readCommit(ctx, s, label.Fingerprint)
	return label, c.Maker, err
}

// Location is the full URL of the directory of a split of a dataset in s.
func (c CommitSplit) Location(s *store.Store) string {
	if c.URL != "" {
		return c.URL
	}
	return s.KeyURL(c.Dir)
}
