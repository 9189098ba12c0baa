//go:build !windows

package store

import "golang.org/x/sys/unix"

// sourceFlags follow no link and do not wait at a pipe.
const sourceFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
