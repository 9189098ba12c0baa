package store

import (
	"os"
	"time"
)

const sourceFlags = 0

// stamp tells the states of a file apart.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime()}, nil
}
