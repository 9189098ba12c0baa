package tracker_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fsspecDefect is something that Python's clients of buckets, or the emulator,
// do and heirloom does not, beside what TorchX does everywhere.
type fsspecDefect struct {
	name     string
	in       []string // protocols
	what     string   // it does
	source   string   // where its code says so
	excepted string   // how the comparison does without
	shows    func(t *testing.T, p pair, r root)
}

// fsspecDefects is the table of all that the comparison on servers excepts.
func fsspecDefects() []fsspecDefect {
	return []fsspecDefect{
		{
			"old listings", []string{"s3", "gs"}, "a listing is kept, and what others wrote since is not seen",
			"fsspec/dircache.py", "torchx_serve.py forgets them before it opens a root and before it looks", showOldListings,
		},
		{
			"append is overwrite", []string{"gs"}, "a file opened to append to it loses what it held",
			"gcsfs/core.py, GCSFile: mode \"a\"", "descendants, the one thing that TorchX appends to, are not compared", showLostAppend,
		},
		{
			"append is read and write", []string{"s3"}, "a file that is appended to is fetched and put again, and holds what it held twice",
			"s3fs/core.py, S3File: mode \"a\"; TorchX, add_source", "likewise", showRepeatedAppend,
		},
		{
			"the emulator speaks no gRPC", []string{"gs"}, "gcsfs asks by gRPC, and in vain, of what kind a bucket is",
			"gcsfs/extended_gcsfs.py; fake-gcs-server has the JSON and XML interfaces alone", "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT=false", showNoGRPC,
		},
	}
}

// TestFsspecDefects holds the clients to each, so that one which is mended is noticed.
func TestFsspecDefects(t *testing.T) {
	for _, p := range []pair{onS3(t, servers.VersityGW(t)), onGCS(t, servers.FakeGCS(t))} {
		for _, d := range fsspecDefects() {
			if !slices.Contains(d.in, p.protocol) {
				continue
			}
			t.Run(p.protocol+"/"+d.name, func(t *testing.T) {
				d.shows(t, p, p.open(t, strings.ReplaceAll(d.name, " ", "-")))
				if t.Failed() {
					t.Logf("no longer so? %s (%s); excepted: %s", d.what, d.source, d.excepted)
				}
			})
		}
	}
}

func showOldListings(t *testing.T, p pair, r root) {
	p.python.ask(t, "open", r.path)
	p.python.ask(t, "metadata", one, object("a", 1))
	torchxSays(t, p.python, `["`+one+`"]`, "run_ids")
	check(t, r.tr.AddMetadata(t.Context(), two, object("a", 1)))
	torchxSays(t, p.python, `["`+one+`"]`, "run_ids")
	p.python.ask(t, "open", r.path) // which forgets
	if got := p.python.ask(t, "ask", "run_ids"); !bytes.Contains(got, []byte(two)) {
		t.Errorf("after it forgot its listings: %s", got)
	}
}

// appended is the mirror of heirloom's link "a" after TorchX added its "b", and
// what heirloom shows of both.
func appended(t *testing.T, p pair, r root) string {
	t.Helper()
	check(t, r.tr.AddMetadata(t.Context(), two, object("a", 1)))
	check(t, r.tr.AddSource(t.Context(), one, tracker.Source{ID: two, Artifact: "a"}))
	p.python.ask(t, "open", r.path)
	p.python.ask(t, "source", one, two, "b")
	heirloomSources(t, r, two+"#a", two+"#b")
	same(t, "heirloom's children", ids(t, r.tr, two), []string{one})
	mirror, err := r.tr.Store().Get(t.Context(), store.Key(key(two, "descendants", b32(one))))
	check(t, err)
	return string(mirror)
}

func showLostAppend(t *testing.T, p pair, r root) {
	if got := appended(t, p, r); got != "b\n" {
		t.Errorf("the mirror holds %q", got)
	}
}

func showRepeatedAppend(t *testing.T, p pair, r root) {
	if got := appended(t, p, r); got != "a\nb\n" {
		t.Errorf("the mirror holds %q", got)
	}
	p.python.ask(t, "source", one, two, "b")
	mirror, err := r.tr.Store().Get(t.Context(), store.Key(key(two, "descendants", b32(one))))
	if check(t, err); string(mirror) != "a\nb\nb\n" {
		t.Errorf("a link that is added again makes %q", mirror)
	}
}

// showNoGRPC begins as gRPC does, to which a server that speaks it answers with a
// frame of HTTP/2.
func showNoGRPC(t *testing.T, p pair, _ root) {
	query, err := url.ParseQuery(strings.TrimPrefix(p.query, "?"))
	check(t, err)
	conn, err := net.Dial("tcp", strings.TrimPrefix(query.Get("endpoint"), "http://"))
	check(t, err)
	defer conn.Close()
	check(t, conn.SetDeadline(time.Now().Add(5*time.Minute)))
	_, err = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	check(t, err)
	answer := make([]byte, 9)
	if n, err := io.ReadFull(conn, answer); err == nil && !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
		t.Errorf("it answers %q", answer[:n])
	}
}
