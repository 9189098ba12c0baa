package store

import "time"

// TransferOptions adjust Upload, Download, UploadTree and DownloadTree. Nil and
// the zero value are the defaults.
type TransferOptions struct {
	Parallel int   // requests at once, over all files; 0 is 64 of small files (of a local disk 256 up, 16 down), and 8 of parts (16 on S3 and GCS)
	Memory   int64 // bytes of buffers at most; 0 is 96 MiB
	PartSize int64 // bytes of a part or range; 0 is by the backend and the size

	// Create refuses to replace an object, or a local file: ErrExist.
	Create bool

	// JournalDir is a local directory that notes which parts of a long transfer
	// arrived, so that the same call in a later process goes on from there. It is
	// made where it is missing. "" notes nothing for uploads; a download keeps its
	// notes beside its target.
	JournalDir string

	// Progress is called from one goroutine at a time: with the first bytes, now
	// and then, and once at the end. Nil is nobody.
	Progress func(Progress)

	// expect is the CRC-32C that an uploaded file must have, else it has changed:
	// ErrConflict, and nothing is visible. Nil is any.
	expect *uint32

	// Skip leaves out a file, or a directory with all below it, by its slash path
	// relative to the tree. Nil skips nothing. UploadTree alone asks for
	// directories.
	Skip func(path string) bool
}

// Progress is how far a transfer has come.
type Progress struct {
	Files, FilesTotal int   // files done, and known so far
	Bytes, BytesTotal int64 // bytes done, those found from an earlier try among them, and known so far
	Resumed           int64 // bytes that an earlier try had moved
	// Checked bytes were read to learn whether they are to be moved, of those that
	// have to be. Sync alone does so.
	Checked, CheckedTotal int64
	Rate                  float64       // bytes per second of late, moved or checked
	ETA                   time.Duration // to the end at that rate, 0 if unknown
}

// Transferred is one file that was moved.
type Transferred struct {
	Object
	CRC32C  uint32 // of the whole
	Resumed int64  // bytes that an earlier try had moved
}
