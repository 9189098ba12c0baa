package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// document is the TOML form of the file keys; its tags and fileKeys name the same set.
type document struct {
	Store      string `toml:"store"`
	Tracker    string `toml:"tracker"`
	Project    string `toml:"project"`
	Experiment string `toml:"experiment"`
	Hash       string `toml:"hash"`
	Grace      string `toml:"grace"`
	Layout     struct {
		TrainPath          string `toml:"train_path"`
		ValPath            string `toml:"val_path"`
		TestPath           string `toml:"test_path"`
		RunsPath           string `toml:"runs_path"`
		SaveRuns           *bool  `toml:"save_runs"`
		CheckpointFilename string `toml:"checkpoint_filename"`
	} `toml:"layout"`
	DefaultScheduler string `toml:"default_scheduler"`
	tables
}

// values flattens the document; keys that the file does not set are empty.
func (d *document) values() map[string]string {
	texts := map[string]string{
		Store: d.Store, Tracker: d.Tracker, Project: d.Project, Experiment: d.Experiment,
		Hash: d.Hash, Grace: d.Grace,
		TrainPath: d.Layout.TrainPath, ValPath: d.Layout.ValPath, TestPath: d.Layout.TestPath,
		RunsPath: d.Layout.RunsPath, CheckpointFile: d.Layout.CheckpointFilename,
		Scheduler: d.DefaultScheduler,
	}
	if d.Layout.SaveRuns != nil {
		texts[SaveRuns] = strconv.FormatBool(*d.Layout.SaveRuns)
	}
	return texts
}

// readFile reads a configuration file; paths in it are relative to its own directory, "~/" is home.
// Errors: fs.ErrNotExist, fs.ErrPermission, or store.ErrInvalid with the place in the file.
func readFile(path, home string) (map[string]string, error) {
	doc, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	texts := doc.values()
	for _, key := range []string{Store, Tracker} {
		texts[key] = absolute(texts[key], filepath.Dir(path), home)
	}
	return texts, nil
}

func readDocument(path string) (document, error) {
	var doc document
	body, err := os.ReadFile(path)
	if err != nil {
		return doc, err
	}
	if err := toml.NewDecoder(bytes.NewReader(body)).DisallowUnknownFields().Decode(&doc); err != nil {
		return doc, invalid("read configuration: %s", describe(path, err))
	}
	return doc, nil
}

// describe turns the decoder's error into "file:line: reason".
func describe(path string, err error) string {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, _ := first.Position()
		return fmt.Sprintf("%s:%d: unknown key %q (known: %s)", path, line, strings.Join(first.Key(), "."), strings.Join(append(fileKeys(), "component.NAME", "components", "named_resources.NAME", "scheduler.NAME"), ", "))
	}
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		line, column := broken.Position()
		return fmt.Sprintf("%s:%d:%d: %s", path, line, column, strings.TrimPrefix(broken.Error(), "toml: "))
	}
	return path + ": " + err.Error()
}

// absolute makes a local path absolute; URLs and "" stay as they are.
func absolute(location, dir, home string) string {
	if location == "" || isURL(location) || filepath.IsAbs(location) {
		return location
	}
	if rest, ok := strings.CutPrefix(location, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return filepath.Join(dir, location)
}

// isURL reports a scheme before anything else, which also covers "dbfs:/x"; "C:\x" is a path.
func isURL(location string) bool {
	scheme, _, found := strings.Cut(location, ":")
	return found && len(scheme) > 1 && !strings.ContainsAny(scheme, `/\.`)
}
