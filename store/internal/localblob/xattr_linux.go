package localblob

import "golang.org/x/sys/unix"

const noXattr = unix.ENODATA
