package store

import (
	"bytes"
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

// Whatever is left of a journal, or was written into it, no record is made up.
func FuzzSyncJournal(f *testing.F) {
	var whole []byte
	for _, rec := range testRecords() {
		whole = append(whole, rec.line()...)
	}
	f.Add(whole, 0, byte(0))
	f.Add(whole, len(whole)/2, byte(1))
	f.Fuzz(func(t *testing.T, body []byte, at int, flip byte) {
		honest := &syncJournal{records: map[string]syncRecord{}}
		if err := honest.read(bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		if at < 0 || at >= len(body) || flip == 0 {
			return
		}
		body = bytes.Clone(body)
		body[at] ^= flip
		torn := &syncJournal{records: map[string]syncRecord{}}
		if err := torn.read(bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
		if extra := len(torn.records) - len(honest.records); extra > 1 {
			t.Errorf("one byte made %d records", extra)
		}
	})
}
