package hdfsblob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

func sendOnce(ctx context.Context, _ int64, _ bool, do func(context.Context) error) error {
	return do(ctx)
}

// testLongStream writes streams of no, one and many parts, the last of them short or not.
func testLongStream(t *testing.T, authority string) {
	b := open(t, authority, &Options{Conf: map[string]string{"dfs.blocksize": "1m"}})
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 7<<20 + 5} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(rand.Uint32())
		}
		o, err := b.PutStream(t.Context(), "k", bytes.NewReader(body), sendOnce)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if now, err := b.Stat(t.Context(), "k"); err != nil || now != o {
			t.Errorf("%d bytes: PutStream says %+v, stat %+v, %v", size, o, now, err)
		}
		if got, err := b.get(t, "k"); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes: read back %d, %v", size, len(got), err)
		}
	}
	failure := errors.New("the source broke")
	source := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), iotest.ErrReader(failure))
	if _, err := b.PutStream(t.Context(), "k", source, sendOnce); !errors.Is(err, failure) {
		t.Errorf("a broken source: %v", err)
	}
	if o, err := b.Stat(t.Context(), "k"); err != nil || o.Size != 7<<20+5 {
		t.Errorf("after a broken source the object is %+v, %v", o, err)
	}
	if left := b.raw(t, b.Dir()); left != "k" {
		t.Errorf("left behind: %q", left)
	}
}
