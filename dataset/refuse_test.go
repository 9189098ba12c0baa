package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/heirloom-ml/heirloom/store"
)

// wholeFile is a file of ours, which others can make one that is refused of.
func wholeFile(t *testing.T, s *store.Store) []byte {
	t.Helper()
	d, _, err := Stage(t.Context(), s, oneSource(), func(ctx context.Context, w *Writer) error {
		return w.WriteTable(ctx, Train, counted(0, 100))
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.Get(t.Context(), d.Commit.Splits[Train].Dir.Join(manifestOf(t, s, d).Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// withFooter writes the footer of a file again after a change.
func withFooter(t *testing.T, body []byte, change func(m *metadata.FileMetaData)) []byte {
	t.Helper()
	tail := len(body) - tailBytes
	start := tail - int(binary.LittleEndian.Uint32(body[tail:]))
	m, err := metadata.NewFileMetaData(body[start:tail], nil)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	var footer bytes.Buffer
	if _, err := m.WriteTo(&footer, nil); err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(body[:start]), footer.Bytes()...)
	out = binary.LittleEndian.AppendUint32(out, uint32(footer.Len()))
	return append(out, magic...)
}

// fresh sets a pointer whose type cannot be named here.
func fresh[T any](to **T) { *to = new(T) }

// TestRefusals reads what the format allows and this package does not: an error that names the file, what it is, and
// a way out.
func TestRefusals(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	body := wholeFile(t, s)
	for name, test := range map[string]struct {
		body       []byte
		text, hint string
	}{
		"lzo":     {withFooter(t, body, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = codecLZO }), "compression LZO", "write it again"},
		"lz4":     {withFooter(t, body, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = codecLZ4 }), "LZ4 in Hadoop's frames", "write it again"},
		"unknown": {withFooter(t, body, func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = 99 }), "codec 99", "write it again"},
		"elsewhere": {withFooter(t, body, func(m *metadata.FileMetaData) {
			other := "other.parquet"
			m.RowGroups[0].Columns[0].FilePath = &other
		}), `"other.parquet"`, "write it again"},
		"encrypted-column": {withFooter(t, body, func(m *metadata.FileMetaData) {
			fresh(&m.RowGroups[0].Columns[0].CryptoMetadata)
			fresh(&m.RowGroups[0].Columns[0].CryptoMetadata.ENCRYPTION_WITH_FOOTER_KEY)
		}), "an encrypted column", "the keys"},
		"encrypted-footer": {append(bytes.Clone(body[:len(body)-4]), encryptedMagic...), "an encrypted file", "the keys"},
	} {
		t.Run(name, func(t *testing.T) {
			key := store.Key("foreign/" + name + "/a.parquet")
			if err := s.Put(t.Context(), key, test.body); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), s, key.Dir())
			if err == nil {
				_, err = r.ReadTable(t.Context(), nil)
			}
			if !errors.Is(err, store.ErrUnsupported) {
				t.Fatalf("read: %v, want that it is not supported", err)
			}
			for _, part := range []string{string(key), test.text, test.hint} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v, want %q in it", err, part)
				}
			}
			report, err := Check(t.Context(), s, key.Dir(), &CheckOptions{ReadData: true})
			if err != nil || len(report.Findings) != 1 || report.Findings[0].Rule != RuleUnsupported {
				t.Errorf("check: %+v, %v", report, err)
			}
		})
	}
}
