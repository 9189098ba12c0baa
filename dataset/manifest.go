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
	Index       int          `json:"index"` // -1: it was adopted where it lies
	Epoch       int64        `json:"epoch"`
	Created     time.Time    `json:"created"`
	Spec        specRecord   `json:"spec"`
	Schema      []Field      `json:"schema"` // of every file
	// Partition lists the columns that directories within this one stand for, the outer first.
	Partition []Field `json:"partition,omitempty"`
	Rows      int64   `json:"rows"`  // in all files
	Bytes     int64   `json:"bytes"` // of all files
	Files     []File  `json:"files"` // in the order of the rows
}

// Field is one column as stored.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // in Arrow's notation: int32, float32, utf8, list<item: int64>
	Nullable bool   `json:"nullable"`
	// Shape is that of the value in every row, where lists have the same length
	// in all of them; nil = a scalar, or lengths differ. A null has no shape.
	Shape []int64 `json:"shape,omitempty"`
	// MaxLength is the length of the longest list, the outermost where they are nested; 0 = no list.
	MaxLength int64 `json:"max_length,omitempty"`
}

// File is one Parquet file.
type File struct {
	Name      string       `json:"name"` // within the directory; with slashes where it is partitioned
	Rows      int64        `json:"rows"`
	Bytes     int64        `json:"bytes"`
	RowGroups int          `json:"row_groups"`
	SHA256    store.Digest `json:"sha256"`
	// CRC32C holds the checksum (Castagnoli, eight hexadecimal digits) of each
	// piece of BlockBytes bytes, the last one shorter. Every read is checked by it.
	BlockBytes int64    `json:"block_bytes"`
	CRC32C     []string `json:"crc32c"`
	// Columns sums up the values of each column, by the path of Parquet ("at.x",
	// "tags.list.element"). A column of which the file says nothing is absent: where numbers
	// without a sign may be null, whose extremes the Parquet library gets wrong. It is nil for files
	// of over 1,000 columns, and in older manifests.
	Columns map[string]ColumnStats `json:"columns,omitempty"`
	// Version is what the store called the file when it was adopted, in place of
	// checksums; "" of files that were staged.
	Version string `json:"version,omitempty"`
}

// ColumnStats sums up the values of one column in one file. Min and Max are
// JSON: a number, true or false, or a string, which holds times as RFC 3339, dates as
// 2006-01-02 and decimals as digits. They are nil where all is null, where the type has no
// order, and for text of over 64 bytes; NaN counts for nothing. Distinct values are not
// counted: that would take memory for each of them.
type ColumnStats struct {
	Nulls int64           `json:"nulls"`
	Min   json.RawMessage `json:"min,omitempty"`
	Max   json.RawMessage `json:"max,omitempty"`
}

// specRecord is a Spec as JSON.
type specRecord struct {
	Sources  []Source          `json:"sources"`
	Features []string          `json:"features,omitempty"`
	Labels   []string          `json:"labels,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	Split    Split             `json:"split"`
	Seed     uint64            `json:"seed"`
	Files    FileOptions       `json:"files,omitzero"`
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
	Lease int       `json:"lease,omitempty"` // number of the lease under which it was taken
	// Generation is that of the commit which it is for.
	Generation int `json:"generation,omitempty"`
}

// Commit makes a dataset exist. Directories are keys of the store, so that a
// copied prefix still works. When the dataset is pruned its commit stays, so that
// a producer which stood still since before cannot take its place; what is staged
// after that is committed under the next generation.
type Commit struct {
	Version     int                  `json:"version"` // of this format: 1
	Fingerprint store.Digest         `json:"fingerprint"`
	Index       int                  `json:"index"`
	Epoch       int64                `json:"epoch"`
	Created     time.Time            `json:"created"`
	Maker       *Maker               `json:"maker,omitempty"`      // nil: it was staged outside of a run
	Generation  int                  `json:"generation,omitempty"` // how often it was pruned before
	Pruned      *time.Time           `json:"pruned,omitempty"`     // since when it exists no more; nil: it does
	Splits      map[Name]CommitSplit `json:"splits"`
}

// CommitSplit sums up one split and pins its manifest.
type CommitSplit struct {
	Dir            store.Key    `json:"dir"`
	URL            string       `json:"url,omitempty"` // where the data lie, if not in Dir, which then holds the manifest alone
	Rows           int64        `json:"rows"`
	Bytes          int64        `json:"bytes"`
	Files          int          `json:"files"`
	ManifestSHA256 store.Digest `json:"manifest_sha256"`
	ManifestBytes  int64        `json:"manifest_bytes,omitempty"` // 0: it was committed before sizes were kept
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
