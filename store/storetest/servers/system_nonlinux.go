//go:build !linux

package servers

import "syscall"

// dieWithParent has no counterpart here: a killed test leaves its server behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
