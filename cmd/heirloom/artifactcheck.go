package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// summer counts and hashes what is written to it.
type summer struct {
	hash.Hash
	n int64
}

func newSummer() *summer { return &summer{Hash: sha256.New()} }

// Write is io.Writer's.
func (s *summer) Write(b []byte) (int, error) {
	s.n += int64(len(b))
	return s.Hash.Write(b)
}

func (s *summer) digest() string { return string(store.DigestFrom(s.Hash)) }

// proof are the names of what was recorded that tells right bytes from wrong ones.
func (m made) proof() []string {
	var keys []string
	for _, key := range []string{tracker.KeySHA256, runner.KeyTreeSHA256} {
		if m.Metadata.Text(key) != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// check compares a local copy with all that was recorded. The error has kind store.ErrCorrupt.
func (m made) check(ctx context.Context, path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	mode := runner.HashSize
	if len(m.proof()) > 0 {
		mode = runner.HashSHA256
	}
	nowhere, err := store.Open(ctx, "mem://", nil) // a local path needs no store
	if err != nil {
		return err
	}
	d := runner.Describer{Store: nowhere, Hash: mode}
	found, err := d.Describe(ctx, m.Name, full)
	if err = errors.Join(err, nowhere.Close()); err != nil {
		return err
	}
	if _, fault := m.compare(found); fault != "" {
		return m.corrupt(fault)
	}
	return nil
}

func (m made) corrupt(fault string) error {
	return &advised{err: &kindError{text: fmt.Sprintf("%s is not what was recorded: %s", m.id(), fault), kind: store.ErrCorrupt},
		advice: "it was replaced or damaged after the run"}
}

// compare holds what was found against what was recorded: how it stands, and what is wrong.
func (m made) compare(found tracker.Artifact) (standing, string) {
	compared := false
	if want, ok := m.SizeBytes(); ok {
		got, known := found.SizeBytes()
		if known && got != want {
			return wrongSize, fmt.Sprintf("it has %d bytes, %d were recorded", got, want)
		}
		compared = known
	}
	if want, ok := m.Metadata.Get(runner.KeyFiles); ok {
		if got, known := found.Metadata.Get(runner.KeyFiles); known && got != want {
			return wrongSize, fmt.Sprintf("it has %v files, %v were recorded", got, want)
		}
	}
	for _, key := range m.proof() {
		got := found.Metadata.Text(key)
		switch {
		case got == "":
		case got != m.Metadata.Text(key):
			return wrongDigest, "its SHA-256 is not the one recorded"
		default:
			compared = true
		}
	}
	if !compared {
		return unknown, "nothing was recorded to compare it with"
	}
	return right, ""
}

// standing is how an artifact stands.
type standing string

// The standings, as docs/json.md tells them.
const (
	right       standing = "ok"
	missing     standing = "missing"
	pruned      standing = "pruned"
	wrongSize   standing = "size"
	wrongDigest standing = "digest"
	unreachable standing = "unreachable"
	unknown     standing = "unknown"
)
