//go:build linux

package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// CheckHDFSParts has what the engine asks of a backend in parts done by a real
// NameNode; TestHDFSCluster runs it.
func CheckHDFSParts(t *testing.T, h *servers.HDFS) {
	s, err := Open(t.Context(), h.URL("p"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := s.back.(parted)
	bodies, whole := cutParts(3)
	token, parts := sendParts(t, b, "dir/o", bodies)
	wantUnfinished(t, b, "dir/", "dir/o")
	wantUnfinished(t, b, "else/")
	_, err = b.complete(t.Context(), "dir/o", token, parts, condition{version: "1-2-3"})
	wantKindOf(t, "replace a version", err, ErrUnsupported)
	obj, err := b.complete(t.Context(), "dir/o", token, parts, condition{absent: true, id: writeID})
	if err != nil || obj.Size != int64(len(whole)) {
		t.Fatalf("complete: %+v, %v", obj, err)
	}
	if got, err := s.Get(t.Context(), "dir/o"); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("get: %d bytes, %v", len(got), err)
	}
	token, parts = sendParts(t, b, "dir/o", bodies)
	_, err = b.complete(t.Context(), "dir/o", token, parts, condition{absent: true, id: writeID})
	wantKindOf(t, "create what exists", err, ErrExist)
	if err := b.abort(t.Context(), "dir/o", token); err != nil {
		t.Fatal(err)
	}
	wantUnfinished(t, b, "")
	_, err = b.complete(t.Context(), "dir/o", token, parts, condition{id: writeID})
	if !errors.Is(err, errUploadGone) {
		t.Errorf("complete what was aborted: %v, want %v", err, errUploadGone)
	}
	_, err = sendPart(t.Context(), b, "dir/o", token, 0, bodies[0], crc32c(bodies[0]))
	if !errors.Is(err, errUploadGone) {
		t.Errorf("a part of what was aborted: %v, want %v", err, errUploadGone)
	}
}
