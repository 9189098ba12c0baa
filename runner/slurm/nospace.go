package slurm

import "github.com/heirloom-ml/heirloom/store"

// noSpaceError is a full disk.
type noSpaceError struct{ error }

func (e *noSpaceError) Unwrap() []error { return []error{store.ErrNoSpace, e.error} }
