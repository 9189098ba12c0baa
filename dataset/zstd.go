package dataset

import (
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
)

// shareEncoder must have been called before the library looks up a codec. The
// library makes an encoder of 3 MB for every page that it compresses at a level,
// which the default level is too. Its only remedy is its table of codecs: there
// we put one that uses the encoder it keeps for pages without a level.
var shareEncoder = sync.OnceFunc(func() {
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	if err == nil {
		compress.RegisterCodec(compress.Codecs.Zstd, sharedEncoder{codec})
	}
})

type sharedEncoder struct{ compress.Codec }

// EncodeLevel compresses src into dst, which it may replace.
func (c sharedEncoder) EncodeLevel(dst, src []byte, level int) []byte {
	if level == compress.DefaultCompressionLevel {
		return c.Encode(dst, src)
	}
	return c.Codec.EncodeLevel(dst, src, level)
}
