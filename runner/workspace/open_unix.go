//go:build unix

package workspace

import "syscall"

// openFlags: a pipe that took the place of a file is not waited for, a link not followed.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
