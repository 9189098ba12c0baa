package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Env is what a launched step knows of the world, from the environment of the job.
type Env struct {
	Store         *store.Store
	OutputDir     string           // local directory for what the step makes
	CheckpointDir string           // local directory for checkpoints
	MetricsPath   string           // file to which lines of JSON are added; "" = nowhere
	Stdout        io.Writer        // nil = nowhere
	Artifacts     ArtifactRecorder // where what lies outside OutputDir is registered; nil = nowhere
}

// ArtifactRecorder is what a step needs of tracker.AppRun.
type ArtifactRecorder interface {
	AddArtifact(ctx context.Context, a tracker.Artifact) error
}

func (e Env) print(format string, args ...any) {
	if e.Stdout != nil {
		fmt.Fprintf(e.Stdout, format+"\n", args...)
	}
}

// metrics adds one line to the metrics file.
func (e Env) metrics(line any) (err error) {
	if e.MetricsPath == "" {
		return nil
	}
	body, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(e.MetricsPath, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(body, '\n'))
	return err
}

// writeFile makes a file appear in dir whole or not at all.
func writeFile(dir, name string, body []byte) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(body)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

func writeJSON(dir, name string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(dir, name, append(body, '\n'))
}
