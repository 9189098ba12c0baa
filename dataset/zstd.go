package dataset

import (
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// shareEncoder must have been called before the library looks up a codec. The
// library makes an encoder of 3 MB for every page that it compresses at a level,
// which the default level is too. Its only remedy is its table of codecs: there
// we put one that uses the same encoder for all pages.
var shareEncoder = sync.OnceFunc(func() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		return
	}
	// Level 1, as pyarrow writes: the next one takes twice the time for a few percent of the bytes.
	encoder, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(maxPage))
	if err == nil {
		compress.RegisterCodec(compress.Codecs.Zstd, sharedEncoder{codec, encoder})
	}
})

type sharedEncoder struct {
	compress.Codec
	encoder *zstd.Encoder
}

// Encode compresses src into dst, which it may replace. It is safe for concurrent use.
func (c sharedEncoder) Encode(dst, src []byte) []byte {
	return c.encoder.EncodeAll(src, dst[:0])
}

// EncodeLevel is Encode at the default level.
func (c sharedEncoder) EncodeLevel(dst, src []byte, level int) []byte {
	if level == compress.DefaultCompressionLevel {
		return c.Encode(dst, src)
	}
	return c.Codec.EncodeLevel(dst, src, level)
}
