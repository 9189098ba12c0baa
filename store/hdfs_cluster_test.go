//go:build linux

package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"golang.org/x/sync/errgroup"
)

// streamsEnv tells this test's own binary to be the client whose memory is measured: the URL of a store.
const streamsEnv = "HEIRLOOM_TEST_STREAMS"

// TestHDFSCluster runs what needs real NameNodes on one cluster of two namespaces.
func TestHDFSCluster(t *testing.T) {
	if url := os.Getenv(streamsEnv); url != "" {
		sendStreams(t, url)
		return
	}
	h := servers.Hadoop(t, &servers.HadoopOptions{Federated: true})
	t.Run("parts", func(t *testing.T) { store.CheckHDFSParts(t, h) })
	t.Run("memory", func(t *testing.T) { wantStreamMemory(t, "TestHDFSCluster", h.URL("streams")) })
	t.Run("uploads killed", func(t *testing.T) { testHDFSKilled(t, h) })
	t.Run("nameservices", func(t *testing.T) { testHDFSNameservices(t, h) })
	t.Run("options", func(t *testing.T) { testHDFSOptions(t, h) })
	t.Run("refusals", func(t *testing.T) { testHDFSRefusals(t, h) })
	t.Run("remote", func(t *testing.T) { remoteOnce(t, h.URL("remote"), false) })
	t.Run("remote user", func(t *testing.T) { hdfsUser(t, h) })
}

// testHDFSKilled kills processes that upload a file.
func testHDFSKilled(t *testing.T, h *servers.HDFS) {
	body := make([]byte, 40<<20)
	rand.NewChaCha8([32]byte{5}).Read(body)
	url := h.URL("killed")
	s, most := openStore(t, url), storetest.Rounds(200)
	for kills := 0; kills < most; {
		kills += killedSeries(t, s, "up", url, body, min(most-kills, 6))
	}
}

// testHDFSNameservices sees that each nameservice is asked for what is its own, by
// looking at the NameNodes behind them.
func testHDFSNameservices(t *testing.T, h *servers.HDFS) {
	for i, name := range servers.Nameservices() {
		s := openWith(t, "hdfs://"+name+"/fed", &store.Options{Environ: h.Environ})
		if err := s.Create(t.Context(), "who", []byte(name)); err != nil {
			t.Fatalf("create in %s: %v", name, err)
		}
		if want := "hdfs://" + name + "/fed/who"; s.KeyURL("who") != want {
			t.Errorf("the key is %s, want %s", s.KeyURL("who"), want)
		}
		direct := openStore(t, "hdfs://"+h.Addresses[i]+"/fed")
		if got, err := direct.Get(t.Context(), "who"); err != nil || string(got) != name {
			t.Errorf("NameNode %d holds %q, %v, want %s", i, got, err, name)
		}
	}
}

// testHDFSOptions finds the namespaces that testHDFSNameservices wrote to by
// Horovod's options.
func testHDFSOptions(t *testing.T, h *servers.HDFS) {
	first, second := servers.Nameservices()[0], servers.Nameservices()[1]
	host, port, err := net.SplitHostPort(h.Addresses[1])
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url, want string
		opts            store.HDFSOptions
	}{
		{"fs.defaultFS", "hdfs:///fed", first, store.HDFSOptions{}},
		{"fs.defaultFS, one slash", "hdfs:/fed", first, store.HDFSOptions{}},
		{"another fs.defaultFS", "hdfs:///fed", second, store.HDFSOptions{ExtraConf: map[string]string{"fs.defaultFS": "hdfs://" + second}}},
		{"host, a nameservice", "hdfs:///fed", second, store.HDFSOptions{Host: second}},
		{"host and port", "hdfs:///fed", second, store.HDFSOptions{Host: host, Port: number}},
		{"the URL wins", "hdfs://" + first + "/fed", first, store.HDFSOptions{Host: host, Port: number}},
	} {
		s := openWith(t, c.url, &store.Options{Environ: h.Environ, HDFS: c.opts})
		if got, err := s.Get(t.Context(), "who"); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// testHDFSRefusals reads the sentences of what a NameNode refuses.
func testHDFSRefusals(t *testing.T, h *servers.HDFS) {
	url := h.URL("refusals")
	owner := openStore(t, url)
	if err := owner.Put(t.Context(), "dir/o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	longest := store.Key("dir/" + strings.Repeat("x", 255))
	if err := owner.Put(t.Context(), longest, []byte("x")); err != nil {
		t.Errorf("put of a name of 255 bytes: %v", err)
	}
	stranger := openWith(t, url, &store.Options{HDFS: store.HDFSOptions{User: "ada"}})
	named := openStore(t, url+"?user=bob")
	for _, c := range []struct {
		name string
		err  error
		kind error
		want []string
	}{
		{"a name of 256 bytes", owner.Put(t.Context(), longest+"x", nil), store.ErrInvalid, []string{"255"}},
		{"a name that escapes make too long", owner.Put(t.Context(), longest[:len(longest)-1]+":", nil), store.ErrInvalid, []string{"255"}},
		{"put by a stranger", stranger.Put(t.Context(), "dir/o", nil), store.ErrPermission, []string{"ada", "WRITE"}},
		{"create by a stranger, of the URL", named.Create(t.Context(), "new", nil), store.ErrPermission, []string{"bob", "WRITE"}},
		{"delete by a stranger", stranger.Delete(t.Context(), "dir/o"), store.ErrPermission, []string{"ada", "WRITE"}},
		{"put below an object", owner.Put(t.Context(), "dir/o/k", nil), store.ErrInvalid, []string{"dir/o"}},
		{"put over a directory", owner.Put(t.Context(), "dir", nil), store.ErrInvalid, []string{"directory"}},
	} {
		t.Logf("%s: %v", c.name, c.err)
		if !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.kind)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(c.err.Error(), want) {
				t.Errorf("%s: %v, which does not say %s", c.name, c.err, want)
			}
		}
	}
}

// sendStreams is that client: 8 streams of 40 MiB at the same time, and again.
func sendStreams(t *testing.T, url string) {
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		group, ctx := errgroup.WithContext(t.Context())
		for i := range 8 {
			group.Go(func() error { return sendStream(ctx, s, i) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("\npeak %d\n", peakMemory())
}

// sendStream sends one of a known length and one of an unknown, in turns.
func sendStream(ctx context.Context, s *store.Store, i int) error {
	const size = 40 << 20
	known := int64(size)
	if i%2 == 1 {
		known = -1
	}
	body := io.LimitReader(rand.NewChaCha8([32]byte{byte(i)}), size)
	_, err := s.PutFrom(ctx, store.Key(fmt.Sprint("stream", i)), body, known)
	return err
}
