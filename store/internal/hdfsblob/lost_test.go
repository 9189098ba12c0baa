package hdfsblob

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// proxy stands before a NameNode and loses requests or answers.
type proxy struct {
	target   string
	listener net.Listener

	mu     sync.Mutex
	lose   string // guarded by mu; the method whose connection is broken, "" for none
	times  int    // guarded by mu; how often still
	before bool   // guarded by mu; the request is lost too, not only its answer
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{target: target, listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) arm(method string, times int, before bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose, p.times, p.before = method, times, before
}

// lost reports whether a request is to be lost, and whether the server may see it.
func (p *proxy) lost(request []byte) (lost, before bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times == 0 || !bytes.Contains(request, []byte(p.lose)) {
		return false, false
	}
	p.times--
	return true, p.before
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	heard, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			client.Write(buf[:n])
			select {
			case heard <- struct{}{}:
			default:
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		lost, before := p.lost(buf[:n])
		if lost {
			client.Close()
			select {
			case <-heard: // the answer to the request before
			default:
			}
		}
		if !before {
			server.Write(buf[:n])
		}
		if lost && !before {
			select {
			case <-heard: // the server has done it
			case <-ended:
			}
		}
		if lost {
			return
		}
	}
}

// testLostAnswers loses the request to publish, or its answer, once or for as long as it is tried.
func testLostAnswers(t *testing.T, authority string) {
	t.Parallel() // it waits more than it works
	p := newProxy(t, authority)
	b := open(t, p.listener.Addr().String(), nil)
	ctx := t.Context()
	for _, c := range []struct {
		name   string
		times  int
		before bool
		want   error
		id     string // of WriteID afterwards
	}{
		{"answer, once", 1, false, nil, ""},
		{"request, once", 1, true, nil, ""},
		{"answer, each time", 100, false, dirtree.ErrUnavailable, "id"},
		{"request, each time", 100, true, dirtree.ErrUnavailable, "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.arm("rename2", c.times, c.before)
			defer p.arm("", 0, false)
			if _, err := b.Create(ctx, c.name, []byte("ours"), "id"); !errors.Is(err, c.want) {
				t.Errorf("create: %v, want %v", err, c.want)
			}
			p.arm("", 0, false)
			id, err := b.WriteID(ctx, c.name)
			if errors.Is(err, fs.ErrNotExist) {
				id = "absent"
			}
			if id != c.id {
				t.Errorf("WriteID is %q, want %q", id, c.id)
			}
			_, err = b.Create(ctx, c.name, []byte("theirs"), "")
			if errors.Is(err, fs.ErrExist) != (c.id != "absent") {
				t.Errorf("create again: %v", err)
			}
		})
	}
	p.arm("delete", 1, false)
	if err := b.Delete(ctx, "answer, once", nil); err != nil && !errors.Is(err, dirtree.ErrUnavailable) && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("delete with a lost answer: %v", err)
	}
}

// testLostComplete loses the one request in which the library names the last block; the NameNode passes over those without
// it, just as if it had been waiting for the block before.
func testLostComplete(t *testing.T, authority string) {
	t.Parallel() // it waits more than it works
	p := newProxy(t, authority)
	b := open(t, p.listener.Addr().String(), &Options{Conf: map[string]string{"dfs.blocksize": "1m"}, Timeout: 2 * time.Second})
	w, err := b.NewWriter(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write(random(3 << 19)); err != nil {
		t.Fatal(err)
	}
	p.arm("complete", 1, true)
	for err = w.file.Close(); !hdfs.IsErrReplicating(err); err = w.file.Close() {
		if err == nil || t.Context().Err() != nil {
			t.Fatalf("close without the last block: %v", err)
		}
	}
	if o, err := w.Commit(dirtree.Create); err != nil || o.Size != 3<<19 {
		t.Errorf("commit: %+v, %v", o, err)
	}
}

// TestStalled asks a NameNode that takes connections and never answers.
func TestStalled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			defer c.Close()
		}
	}()
	b, err := Open(l.Addr().String(), "/", &Options{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("stat: %v, want ErrUnavailable", err)
	}
	patient, err := Open(l.Addr().String(), "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := patient.Stat(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("stat with a deadline: %v, want DeadlineExceeded", err)
	}
	if took := time.Since(start); took > 50*time.Second {
		t.Errorf("it took %v", took)
	}
}
