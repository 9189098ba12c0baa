package store

import "time"

// Object describes what a store holds under one key.
type Object struct {
	Key      Key
	Size     int64     // bytes
	Modified time.Time // as the backend tells it, in its own resolution
	// Version changes whenever the bytes do: an ETag, a generation, or inode,
	// time and size. Opaque, "" where the backend has none.
	Version string
}

// Entry is one line of ListDir. Of a directory only Key is set, without a slash
// at its end.
type Entry struct {
	Object
	IsDir bool
}

// Capabilities are what a backend promises beyond the contract of the package.
type Capabilities struct {
	AtomicCreate bool // Create has exactly one winner
	AtomicPut    bool // a reader during a Put sees the old bytes or the new
	Replace      bool // Replace works: compare-and-swap on Version
	Append       bool // AddLines appends instead of rewriting
	Durable      bool // a write that returned survives a loss of power
	Resume       bool // an Upload that was broken off goes on where it was
	// CoarseVersion is a lack: two writes of one size within the resolution of the
	// backend's clock, up to a second, have one Version.
	CoarseVersion  bool
	ServerChecksum bool // the far side checks what it received against a checksum of ours
}
