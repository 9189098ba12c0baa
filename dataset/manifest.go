package dataset

import (
	"encoding/json"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// The names of what lies beside the data in a split's directory. Readers of
// Parquet, Spark's rule among them, pass over names that begin with "_".
const (
	ManifestName = "_heirloom.json"
	SuccessName  = "_SUCCESS"
)

// formatVersion is what manifests, claims and commits carry. A reader refuses a
// higher one.
const formatVersion = 1

// Manifest lists the files of one split, exactly.
type Manifest struct {
	Version     int          `json:"version"` // of this format: 1
	Fingerprint store.Digest `json:"fingerprint"`
	Split       Name         `json:"split"`
	Index       int          `json:"index"`
	Epoch       int64        `json:"epoch"`
	Created     time.Time    `json:"created"`
	Spec        specRecord   `json:"spec"`
	Schema      []Field      `json:"schema"` // of every file
	Rows        int64        `json:"rows"`   // in all files
	Bytes       int64        `json:"bytes"`  // of all files
	Files       []File       `json:"files"`  // in the order of the rows
}

// Field is one column as stored.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // in Arrow's notation: int32, float32, utf8, list<item: int64>
	Nullable bool   `json:"nullable"`
}

// File is one Parquet file.
type File struct {
	Name      string       `json:"name"` // within the directory
	Rows      int64        `json:"rows"`
	Bytes     int64        `json:"bytes"`
	RowGroups int          `json:"row_groups"`
	SHA256    store.Digest `json:"sha256"`
	// CRC32C holds the checksum (Castagnoli, eight hexadecimal digits) of each
	// piece of BlockBytes bytes, the last one shorter. Every read is checked by it.
	BlockBytes int64    `json:"block_bytes"`
	CRC32C     []string `json:"crc32c"`
}

// specRecord is a Spec as JSON.
type specRecord struct {
	Sources  []Source          `json:"sources"`
	Features []string          `json:"features,omitempty"`
	Labels   []string          `json:"labels,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	Split    Split             `json:"split"`
	Seed     uint64            `json:"seed"`
}

// Claim is who took an index, for the time until the commit and for whoever
// reclaims what was abandoned.
type Claim struct {
	Version     int          `json:"version"` // of this format: 1
	Fingerprint store.Digest `json:"fingerprint"`
	Index       int          `json:"index"`
	// Epoch grows with every claim of a store; files carry it in their names.
	Epoch int64     `json:"epoch"`
	Time  time.Time `json:"time"`
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
}

// Commit makes a dataset exist. Directories are keys of the store, so that a
// copied prefix still works.
type Commit struct {
	Version     int                  `json:"version"` // of this format: 1
	Fingerprint store.Digest         `json:"fingerprint"`
	Index       int                  `json:"index"`
	Epoch       int64                `json:"epoch"`
	Created     time.Time            `json:"created"`
	Splits      map[Name]CommitSplit `json:"splits"`
}

// CommitSplit sums up one split and pins its manifest.
type CommitSplit struct {
	Dir            store.Key    `json:"dir"`
	Rows           int64        `json:"rows"`
	Bytes          int64        `json:"bytes"`
	Files          int          `json:"files"`
	ManifestSHA256 store.Digest `json:"manifest_sha256"`
}

// encode writes v as indented JSON with a newline at its end, for people too.
func encode(v any) ([]byte, error) {
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

// decode reads one of the documents above and refuses a newer format.
func decode(op string, key store.Key, body []byte, v any) error {
	var head struct{ Version int }
	if err := json.Unmarshal(body, &head); err != nil {
		return failure(op, key, store.ErrCorrupt, err)
	}
	if head.Version != formatVersion {
		return failure(op, key, store.ErrUnsupported, errVersion(head.Version))
	}
	if err := json.Unmarshal(body, v); err != nil {
		return failure(op, key, store.ErrCorrupt, err)
	}
	return nil
}
