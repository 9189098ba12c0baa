package store

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"testing"
)

func testRecords() []syncRecord {
	return []syncRecord{
		{Path: "a", SHA256: DigestOf([]byte("a")), CRC32C: 1},
		{Path: "d/b\nc", SHA256: DigestOf([]byte("b")), Sent: true, Version: "v1", Mode: 0o644},
		{Path: "a", SHA256: DigestOf([]byte("A")), Sent: true, Version: "v2"},
		{Path: "gone", Sent: true, Version: "v3"},
		{Path: "gone", Gone: true},
	}
}

// The last record of a path counts, also for the next process.
func TestSyncJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openSyncJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	list := testRecords()
	for _, rec := range list {
		if err := j.put(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if j, err = openSyncJournal(path); err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		if want := map[string]syncRecord{"a": list[2], "d/b\nc": list[1]}; !maps.Equal(j.records, want) {
			t.Errorf("got %+v", j.records)
		}
	}
}

// Whatever is left of a journal, or was written into it, no record is made up. The text is
// short, being one line among others that are whole: what go test shortens for a minute
// before it goes on would be all of a journal else.
func FuzzSyncJournal(f *testing.F) {
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
func readJournal(t *testing.T, body []byte) map[string]syncRecord {
	t.Helper()
	j := &syncJournal{records: map[string]syncRecord{}}
	if err := j.read(bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	for _, rec := range j.records {
		if again, ok := parseRecord(rec.line()); !ok || again != rec {
			t.Errorf("%+v is read back as %+v, %v", rec, again, ok)
		}
	}
	return j.records
}
