package dataset

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/parquet/compress"
)

// FileOptions say how the rows lie in files. They are part of the fingerprint,
// but for the defaults.
type FileOptions struct {
	// Compression of pages: "zstd" or "snappy"; "" = zstd.
	Compression string `json:"compression,omitempty"`
	// PartitionBy names columns whose values become directories, as Hive lays them:
	// column=value, one within the other. The files do not hold these columns.
	PartitionBy []string `json:"partition_by,omitempty"`
}

const (
	zstdCompression   = "zstd"
	snappyCompression = "snappy"
)

// compression is the name of the codec, which file names carry.
func (o FileOptions) compression() string {
	if o.Compression == "" {
		return zstdCompression
	}
	return o.Compression
}

func (o FileOptions) codec() compress.Compression {
	if o.compression() == snappyCompression {
		return compress.Codecs.Snappy
	}
	return compress.Codecs.Zstd
}

func (o FileOptions) check() error {
	if c := o.compression(); c != zstdCompression && c != snappyCompression {
		return fmt.Errorf("there is no compression %q; there are zstd and snappy", c)
	}
	for i, column := range o.PartitionBy {
		if column == "" || slices.Contains(o.PartitionBy[:i], column) {
			return fmt.Errorf("column %q to partition by is empty or named twice", column)
		}
	}
	return nil
}

// canonical adds what is not the default to a fingerprint.
func (o FileOptions) canonical(field func(name string, values ...string)) {
	if o.compression() != zstdCompression {
		field("files.compression", o.Compression)
	}
	field("files.partition_by", o.PartitionBy...)
}
