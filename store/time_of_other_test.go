//go:build !linux

package store

import (
	"testing"
	"time"
)

// timeOf is how long do takes.
func timeOf(_ *testing.T, do func()) time.Duration {
	begun := time.Now()
	do()
	return time.Since(begun)
}
