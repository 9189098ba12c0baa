package slurm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// install puts the program into the job directory, unless the nodes have their own:
// a link to the one copy of these bytes in the state directory, where both are one
// file system, else a copy. Either was read back and compared.
func (s *Scheduler) install(plan *runner.Plan, d jobDir) error {
	o, err := s.decode(plan.Options)
	if err != nil {
		return err
	}
	if o.Program != "" {
		return nil
	}
	if s.opts.Program == "" {
		return invalid("nothing says where heirloom is on the nodes: give the run option program")
	}
	digest, err := digestOf(s.opts.Program)
	if err != nil {
		return fmt.Errorf("read program for the nodes: %w", err)
	}
	kept := filepath.Join(s.opts.StateDir, "bin", digest, programName)
	if err := copyVerified(s.opts.Program, kept, digest); err != nil {
		return fmt.Errorf("copy program for the nodes: %w", err)
	}
	target := d.file("bin", programName)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if os.Link(kept, target) == nil {
		return nil
	}
	if err := copyVerified(kept, target, digest); err != nil {
		return fmt.Errorf("copy program for the nodes: %w", err)
	}
	return nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// copyVerified makes to a copy of from, whose digest is known, unless it is one.
func copyVerified(from, to, digest string) error {
	if have, err := digestOf(to); err == nil && have == digest {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	temp, err := copyBeside(from, to)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // it has moved, as a rule
	if have, err := digestOf(temp); err != nil || have != digest {
		return errors.Join(err, fmt.Errorf("the copy %s is not what %s holds: %w", to, from, store.ErrCorrupt))
	}
	if err := os.Rename(temp, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func copyBeside(from, to string) (temp string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	out, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	for _, step := range []func() error{func() error { return out.Chmod(0o755) }, out.Sync} {
		if err == nil {
			err = step()
		}
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(out.Name())
	}
	return out.Name(), err
}
