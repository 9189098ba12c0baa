package syncjournal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"testing"
)

func testRecords() []Record {
	return []Record{
		{Path: "a", SHA256: "sum of a", CRC32C: 1},
		{Path: "d/b\nc", SHA256: "sum of b", Sent: true, Version: "v1", Mode: 0o644},
		{Path: "a", SHA256: "sum of A", Sent: true, Version: "v2"},
		{Path: "gone", Sent: true, Version: "v3"},
		{Path: "gone", Gone: true},
	}
}

// The last record of a path counts, also for the next process.
func TestLastRecordCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list := testRecords()
	for _, rec := range list {
		if err := j.Put(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if j, err = Open(path); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if want := map[string]Record{"a": list[2], "d/b\nc": list[1]}; !maps.Equal(j.records, want) {
			t.Errorf("got %+v", j.records)
		}
	}
}

// Whatever is left of a journal, or was written into it, no record is made up. The text is
// short, being one line among others that are whole: what go test shortens for a minute
// before it goes on would be all of a journal else.
func FuzzFile(f *testing.F) {
	var whole []byte
	for _, rec := range testRecords() {
		whole = append(whole, rec.line()...)
	}
	f.Add("", 0, byte(0))
	f.Add(`{"path":"x","sent":true}`, len(whole)/2, byte(1))
	f.Add("{}\n", len(whole)+3, byte(2))
	f.Fuzz(func(t *testing.T, text string, at int, flip byte) {
		if len(text) > 256 {
			return
		}
		body := fmt.Appendf(bytes.Clone(whole), "%08x %s\n", crc32.Checksum([]byte(text), castagnoli), text)
		honest := readJournal(t, body)
		if at < 0 || at >= len(body) || flip == 0 {
			return
		}
		body[at] ^= flip
		if extra := len(readJournal(t, body)) - len(honest); extra > 1 {
			t.Errorf("one byte made %d records", extra)
		}
	})
}

// readJournal reads what may be torn, and wants to find again all that it made of it.
func readJournal(t *testing.T, body []byte) map[string]Record {
	t.Helper()
	j := &File{records: map[string]Record{}}
	if err := j.read(bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	for _, rec := range j.records {
		if again, ok := parse(rec.line()); !ok || again != rec {
			t.Errorf("%+v is read back as %+v, %v", rec, again, ok)
		}
	}
	return j.records
}
