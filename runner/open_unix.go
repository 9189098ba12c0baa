//go:build unix

package runner

import "syscall"

const openNonblock = syscall.O_NONBLOCK
