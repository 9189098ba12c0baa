//go:build !linux

package doctor

import "errors"

// DiskAt is for Linux only.
func DiskAt(string) (Disk, error) { return Disk{}, errors.ErrUnsupported }
