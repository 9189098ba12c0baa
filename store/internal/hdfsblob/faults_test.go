package hdfsblob

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestHDFSFaults breaks a cluster of two DataNodes in one way after the other.
func TestHDFSFaults(t *testing.T) {
	t.Parallel() // it waits more than it works
	h := servers.Hadoop(t, &servers.HadoopOptions{DataNodes: 2})
	for _, c := range []struct {
		name string
		run  func(t *testing.T, h *servers.HDFS)
	}{
		{"durable", testDurable},
		{"quota", testQuota},
		{"safe mode", testSafeMode},
		{"corrupt replicas", testCorruptReplicas},
		{"NameNode restarted", testNameNodeRestart},
		{"DataNode killed", testDataNodeKilled},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
}

func random(size int) []byte {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	return body
}

// acting calls act when half of the body has been read.
type acting struct {
	io.Reader
	left int
	act  func()
}

func (a *acting) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if a.left -= n; a.left <= 0 && a.act != nil {
		a.act()
		a.act = nil
	}
	return n, err
}

func testDataNodeKilled(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, &Options{Conf: map[string]string{"dfs.blocksize": "4m"}, Timeout: 10 * time.Second})
	old := random(5 << 20)
	if err := patiently(t.Context(), func() error { return second(b.Put(t.Context(), "old", old)) }); err != nil {
		t.Fatal(err)
	}
	w, err := b.NewWriter(t.Context(), "one file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(random(2 << 20)); err != nil {
		t.Fatal(err)
	}
	body := random(24 << 20)
	source := &acting{bytes.NewReader(body), len(body) / 2, func() { h.KillDataNode(0) }}
	if err := putLong(t, b, "new", source); err != nil {
		t.Fatalf("a stream over the death of a DataNode: %v", err)
	}
	if got, err := b.get(t, "new"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("read back %d bytes of %d, %v", len(got), len(body), err)
	}
	if got, err := b.get(t, "old"); err != nil || !bytes.Equal(got, old) {
		t.Errorf("an older object: %d bytes of %d, %v", len(got), len(old), err)
	}
	_, err = w.Write(random(3 << 20))
	if err == nil {
		_, err = w.Commit(dirtree.Replace)
	} else {
		w.Abort()
	}
	if !errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("one file over the death of a DataNode: %v, want ErrUnavailable", err)
	}
	if left := b.raw(t, b.Dir()); left != "new old" {
		t.Errorf("left behind: %q", left)
	}
	h.StartDataNode(0)
	h.WaitReady(0, 2)
}

func testNameNodeRestart(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, &Options{Conf: map[string]string{"dfs.blocksize": "4m"}})
	if _, err := b.Put(t.Context(), "k", []byte("before")); err != nil {
		t.Fatal(err)
	}
	h.KillNameNode(0)
	_, err := b.Stat(t.Context(), "k")
	if !errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("stat without a NameNode: %v", err)
	}
	if _, err := b.Put(t.Context(), "k", []byte("during")); !errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("put without a NameNode: %v", err)
	}
	h.StartNameNode(0)
	h.WaitReady(0, 2)
	if got, err := b.get(t, "k"); err != nil || string(got) != "before" {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	body := random(20 << 20)
	restart := func() { h.KillNameNode(0); h.StartNameNode(0) }
	if err := putLong(t, b, "long", &acting{bytes.NewReader(body), len(body) / 2, restart}); err != nil {
		t.Fatalf("a stream over a restart of the NameNode: %v", err)
	}
	if got, err := b.get(t, "long"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("read back %d bytes of %d, %v", len(got), len(body), err)
	}
	h.WaitReady(0, 2)
}

// testDurable counts how often the DataNodes flush a block.
func testDurable(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, &Options{Conf: map[string]string{"dfs.blocksize": "1m"}})
	if !b.Durable() {
		t.Errorf("it is not durable without encryption")
	}
	before := h.Syncs(0) + h.Syncs(1)
	if err := patiently(t.Context(), func() error { return second(b.Put(t.Context(), "k", random(3<<20))) }); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; { // their counters are a second old
		got := h.Syncs(0) + h.Syncs(1) - before
		if got >= 6 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("3 blocks of 2 replicas were flushed %d times, want 6 or more", got)
		}
		wait(t.Context(), 100*time.Millisecond)
	}
}

func setSafeMode(t *testing.T, b *Bucket, action protoreflect.EnumNumber) {
	t.Helper()
	err := b.with(t.Context(), "set safe mode", "", func(c *client) error {
		_, err := c.call("setSafeMode", "SetSafeMode", fields{"action": action})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testSafeMode(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, nil)
	if _, err := b.Put(t.Context(), "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	const leave, enter = 1, 2
	setSafeMode(t, b, enter)
	defer setSafeMode(t, b, leave)
	_, putErr := b.Put(t.Context(), "k", []byte("y"))
	_, createErr := b.Create(t.Context(), "new", []byte("y"), "")
	for name, err := range map[string]error{"put": putErr, "create": createErr, "delete": b.Delete(t.Context(), "k", nil)} {
		if !errors.Is(err, dirtree.ErrUnavailable) || !strings.Contains(err.Error(), "dfsadmin -safemode leave") {
			t.Errorf("%s in safe mode: %v, want ErrUnavailable that says how to leave it", name, err)
		}
	}
	if got, err := b.get(t, "k"); err != nil || string(got) != "x" {
		t.Errorf("read in safe mode: %q, %v", got, err)
	}
	setSafeMode(t, b, leave)
	if _, err := b.Put(t.Context(), "k", []byte("y")); err != nil {
		t.Errorf("put after safe mode: %v", err)
	}
}

func testQuota(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, nil)
	const unchanged = 1<<63 - 1
	for _, c := range []struct {
		name         string
		names, space uint64
		wayOut       string
	}{{"names", 1, unchanged, "dfsadmin -setQuota"}, {"space", unchanged, 1 << 20, "dfsadmin -setSpaceQuota"}} {
		dir := b.Dir() + "-" + c.name
		err := b.with(t.Context(), "set quota", "", func(c2 *client) error {
			if err := c2.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			_, err := c2.call("setQuota", "SetQuota", fields{"path": dir, "namespaceQuota": c.names, "storagespaceQuota": c.space})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		limited, err := Open(h.Authority, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer limited.Close()
		_, err = limited.Put(t.Context(), "k", random(1000))
		if !errors.Is(err, dirtree.ErrNoSpace) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), c.wayOut) {
			t.Errorf("put over the quota of %s: %v, want ErrNoSpace that names the directory and %s", c.name, err, c.wayOut)
		}
		if left := limited.raw(t, dir); left != "" {
			t.Errorf("left behind: %q", left)
		}
	}
}

// testCorruptReplicas turns bits of one replica, then of both. Wrong bytes must never come out.
func testCorruptReplicas(t *testing.T, h *servers.HDFS) {
	b := open(t, h.Authority, nil)
	body := random(3 << 20)
	if _, err := b.Put(t.Context(), "k", body); err != nil {
		t.Fatal(err)
	}
	corruptBlocks(t, h.DataDir(0), body)
	for range 4 { // whichever replica is tried first
		if got, err := b.get(t, "k"); err != nil || !bytes.Equal(got, body) {
			t.Errorf("with one corrupt replica: %d bytes, equal %v, %v", len(got), bytes.Equal(got, body), err)
		}
	}
	corruptBlocks(t, h.DataDir(1), body)
	got, err := b.get(t, "k")
	if err == nil || !bytes.HasPrefix(body, got) {
		t.Errorf("with all replicas corrupt: %d bytes, right so far %v, %v", len(got), bytes.HasPrefix(body, got), err)
	}
	if !errors.Is(err, dirtree.ErrCorrupt) {
		t.Errorf("with all replicas corrupt: %v, want ErrCorrupt", err)
	}
}

// corruptBlocks changes a byte in the middle and the last one of the file that holds body.
func corruptBlocks(t *testing.T, dir string, body []byte) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "blk_") || strings.HasSuffix(d.Name(), ".meta") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, body) {
			return err
		}
		found = true
		data[len(data)/2] ^= 1
		data[len(data)-1] ^= 1
		return os.WriteFile(path, data, 0o644)
	})
	if err != nil || !found {
		t.Fatalf("no block below %s holds the object: %v", dir, err)
	}
}

// lookup finds a variable among "NAME=value".
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, e := range environ {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// TestHDFSFailover has an upload live through a failover between two NameNodes, and through the death of one.
func TestHDFSFailover(t *testing.T) {
	t.Parallel() // it waits more than it works
	h := servers.Hadoop(t, &servers.HadoopOptions{HA: true})
	b := open(t, h.Authority, &Options{Getenv: lookup(h.Environ), Conf: map[string]string{"dfs.blocksize": "4m"}})
	for _, c := range []struct {
		name string
		act  func()
	}{
		{"handed over", func() { h.Activate(1) }},
		{"killed", func() { h.KillNameNode(1); h.Activate(0) }},
	} {
		body := random(20 << 20)
		source := &acting{bytes.NewReader(body), len(body) / 2, c.act}
		if err := putLong(t, b, c.name, source); err != nil {
			t.Fatalf("a stream while the NameNode is %s: %v", c.name, err)
		}
		if got, err := b.get(t, c.name); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: read back %d bytes of %d, %v", c.name, len(got), len(body), err)
		}
		if _, err := b.Create(t.Context(), "created "+c.name, []byte("x"), ""); err != nil {
			t.Errorf("create after the NameNode is %s: %v", c.name, err)
		}
	}
}
