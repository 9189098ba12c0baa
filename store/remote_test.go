package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What the test binary is told when it is to be a worker.
const (
	remoteViewVar = "HEIRLOOM_TEST_REMOTE_VIEW"
	remoteURLVar  = "HEIRLOOM_TEST_REMOTE_URL"
	remoteTempVar = "HEIRLOOM_TEST_REMOTE_TEMP"
)

// TestRemoteWorker is Horovod's test of its HDFS store, from within a worker: it
// writes, syncs, and prints how many files each sync sent. Files of the same
// length are written twice within one second, and bear the same time.
func TestRemoteWorker(t *testing.T) {
	var view store.RemoteView
	if err := json.Unmarshal([]byte(os.Getenv(remoteViewVar)), &view); err != nil {
		return // not a process of that test
	}
	sent := 0
	opts := &store.RemoteOptions{URL: os.Getenv(remoteURLVar), TempDir: os.Getenv(remoteTempVar), Store: store.Options{
		Environ: os.Environ(),
		Intercept: func(_ context.Context, r store.Request, do func() error) error {
			if r.Op == "put" && !strings.Contains(r.Key, ".heirloom") {
				sent++
			}
			return do()
		},
	}, Sync: store.SyncOptions{Parallel: 1}}
	r, err := store.OpenRemote(t.Context(), view, opts)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	write := func(path, text string) {
		name := filepath.Join(r.LocalOutputDir(), path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	var counts []int
	sync := func() {
		sent = 0
		if err := r.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, sent)
	}
	write("a.txt", "hello")
	sync()
	write("b.txt", "hello")
	write("subdir/c.txt", "hello")
	sync()
	write("a.txt", "HELLO")
	write("subdir/c.txt", "HELLO")
	sync()
	sync()
	write("last.txt", "at the end")
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(r.LocalOutputDir())
	fmt.Printf("\nsent %v, directory gone %v: %s\n", counts, err != nil, r.LocalOutputDir())
}

// TestRemote hands the view of a run to a worker in another process, on every
// backend; on HDFS TestHDFSCluster does so.
func TestRemote(t *testing.T) {
	for _, c := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"local", func(t *testing.T) string { return t.TempDir() }},
		{"minio", func(t *testing.T) string { return servers.MinIO(t).URL("p") }},
		{"versitygw", func(t *testing.T) string { return servers.VersityGW(t).URL("p") }},
		{"fakegcs", func(t *testing.T) string { return servers.FakeGCS(t).URL("p") }},
		{"dbfs", func(t *testing.T) string { return servers.DBFS(t).URL("p") }},
		{"volume", func(t *testing.T) string { return servers.DBFS(t).VolumeURL("p") }},
	} {
		t.Run(c.name, func(t *testing.T) { remoteOnce(t, c.url(t), c.name == "local") })
	}
}

func remoteOnce(t *testing.T, url string, local bool) {
	s := openWith(t, url, &store.Options{Environ: os.Environ(), RunsPath: "experiments"})
	layout := s.Layout()
	view, err := json.Marshal(layout.Remote("r 1", 0))
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRemoteWorker$")
	cmd.Env = append(os.Environ(), remoteViewVar+"="+string(view), remoteURLVar+"="+s.URL(), remoteTempVar+"="+temp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "sent [1 2 2 0], directory gone true: " + temp
	if local {
		dir, _ := s.LocalPath(layout.RunDir("r 1"))
		want = "sent [0 0 0 0], directory gone false: " + dir
	}
	if !strings.Contains(string(out), want) {
		t.Errorf("got %s, want %s", out, want)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("scratch stays: %v", left)
	}
	for path, want := range map[string]string{"a.txt": "HELLO", "b.txt": "hello", "subdir/c.txt": "HELLO", "last.txt": "at the end"} {
		if body, err := s.Get(t.Context(), layout.RunDir("r 1").Join(path)); err != nil || string(body) != want {
			t.Errorf("%s: %q, %v", path, body, err)
		}
	}
}

// Every override changes where the worker writes, and what it is told.
func TestRemoteFollowsTheLayout(t *testing.T) {
	root, never := t.TempDir(), false
	for name, c := range map[string]struct {
		opts store.Options
		want func(v store.RemoteView) (got, want string)
	}{
		"train path":  {store.Options{TrainPath: "data/t"}, func(v store.RemoteView) (string, string) { return v.TrainDataPath, "/data/t.1" }},
		"val path":    {store.Options{ValPath: root + "/v"}, func(v store.RemoteView) (string, string) { return v.ValDataPath, "/v.1" }},
		"test path":   {store.Options{TestPath: "file://" + root + "/h"}, func(v store.RemoteView) (string, string) { return v.TestDataPath, "/h.1" }},
		"runs path":   {store.Options{RunsPath: "exp"}, func(v store.RemoteView) (string, string) { return v.RunPath, "/exp/r" }},
		"filename":    {store.Options{CheckpointFilename: "m.pt"}, func(v store.RemoteView) (string, string) { return *v.CheckpointPath, "/runs/r/m.pt" }},
		"by default":  {store.Options{}, func(v store.RemoteView) (string, string) { return *v.CheckpointPath, "/runs/r/checkpoint.h5" }},
		"unsaved run": {store.Options{SaveRuns: &never}, func(v store.RemoteView) (string, string) { return fmt.Sprint(v.CheckpointPath), "<nil>" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, root, &c.opts)
			view := s.Layout().Remote("r", 1)
			if got, want := c.want(view); strings.TrimPrefix(got, "file://"+root) != want {
				t.Errorf("got %s, want %s", got, want)
			}
			temp := t.TempDir()
			r, err := store.OpenRemote(t.Context(), view, &store.RemoteOptions{TempDir: temp})
			if err != nil {
				t.Fatal(err)
			}
			dir, _ := s.LocalPath(s.Layout().RunDir("r"))
			if view.SavingRuns != (r.LocalOutputDir() == dir) || view.SavingRuns == strings.HasPrefix(r.LocalOutputDir(), temp) {
				t.Errorf("the output directory is %s", r.LocalOutputDir())
			}
			if err := errors.Join(os.WriteFile(filepath.Join(r.LocalOutputDir(), "f"), nil, 0o600), r.Sync(t.Context()), r.Close()); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("scratch stays: %v", left)
			}
		})
	}
}

func TestOpenRemoteRefuses(t *testing.T) {
	s := openStore(t, "mem://")
	if _, err := store.OpenRemote(t.Context(), s.Layout().Remote("r", -1), nil); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("mem: %v", err)
	}
	view := openStore(t, t.TempDir()).Layout().Remote("r", -1)
	for _, path := range []string{"/etc", view.RunsPath, view.RunsPath + "/../../x", "s3://b/r", ""} {
		bad := view
		bad.RunPath = path
		if _, err := store.OpenRemote(t.Context(), bad, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// Where the end cannot be stored, the directory stays and is named, and a further
// Close tries again.
func TestRemoteKeepsWhatItCannotStore(t *testing.T) {
	server := servers.VersityGW(t)
	s := openWith(t, server.URL("p"), nil)
	down := true
	r, err := store.OpenRemote(t.Context(), s.Layout().Remote("r", -1), &store.RemoteOptions{URL: s.URL(), TempDir: t.TempDir(), Store: store.Options{
		Intercept: func(_ context.Context, _ store.Request, do func() error) error {
			if down {
				return store.ErrPermission
			}
			return do()
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(r.LocalOutputDir(), "precious")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, store.ErrPermission) || !strings.Contains(err.Error(), r.LocalOutputDir()) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
	down = false
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("scratch stays")
	}
}

// Each option of a connection to HDFS reaches the worker's, seen by what the first
// request says where there is no server.
func TestRemoteHDFSOptions(t *testing.T) {
	dir := t.TempDir()
	krb5 := filepath.Join(dir, "krb5.conf")
	if err := os.WriteFile(krb5, []byte("[libdefaults]\n default_realm = R\n dns_lookup_kdc = false\n[realms]\n R = {\n kdc = 127.0.0.1:1\n }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := writeKeytab(t, filepath.Join(dir, "two.keytab"), "ada", "eve")
	kerberos := map[string]string{"hadoop.security.authentication": "kerberos", "dfs.namenode.kerberos.principal": "nn/_HOST@R"}
	for name, c := range map[string]struct {
		opts store.HDFSOptions
		want string
	}{
		"host and port": {store.HDFSOptions{Host: "127.0.0.1", Port: 1}, "127.0.0.1:1 is unavailable"},
		"extra conf":    {store.HDFSOptions{ExtraConf: map[string]string{"fs.defaultFS": "hdfs://127.0.0.1:2"}}, "127.0.0.1:2 is unavailable"},
		"ticket cache":  {store.HDFSOptions{Host: "127.0.0.1", Port: 1, TicketCache: dir + "/tickets", ExtraConf: kerberos}, dir + "/tickets"},
		"keytab":        {store.HDFSOptions{Host: "127.0.0.1", Port: 1, Keytab: dir + "/keys", Principal: "ada@R", ExtraConf: kerberos}, dir + "/keys"},
		"principal":     {store.HDFSOptions{Host: "127.0.0.1", Port: 1, Keytab: keys, Principal: "ada@R", ExtraConf: kerberos}, "log in as ada@R"},
		"another":       {store.HDFSOptions{Host: "127.0.0.1", Port: 1, Keytab: keys, Principal: "eve", ExtraConf: kerberos}, "log in as eve"},
		"no principal":  {store.HDFSOptions{Host: "127.0.0.1", Port: 1, Keytab: keys, ExtraConf: kerberos}, "a keytab needs the principal"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := store.Options{HDFS: c.opts, MaxAttempts: 1, Environ: []string{"KRB5_CONFIG=" + krb5}}
			if err := remoteOver(t, "hdfs:///p", opts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// writeKeytab makes a file with the keys of these principals of the realm R.
func writeKeytab(t *testing.T, path string, principals ...string) string {
	t.Helper()
	table := keytab.New()
	for _, name := range principals {
		if err := table.AddEntry(name, "R", "secret", time.Unix(1, 0), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
			t.Fatal(err)
		}
	}
	body, err := table.Marshal()
	if err == nil {
		err = os.WriteFile(path, body, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The options of the mirror reach it, but for the place of its notes, which go
// with scratch.
func TestRemoteSyncOptions(t *testing.T) {
	s := openWith(t, servers.VersityGW(t).URL("q"), nil)
	notes := t.TempDir()
	r, err := store.OpenRemote(t.Context(), s.Layout().Remote("r", -1), &store.RemoteOptions{URL: s.URL(), TempDir: t.TempDir(), Sync: store.SyncOptions{
		Skip: func(path string) bool { return path == "junk" }, StateDir: notes,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"junk", "result"} {
		if err := os.WriteFile(filepath.Join(r.LocalOutputDir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	dir := s.Layout().RunDir("r")
	if _, err := s.Stat(t.Context(), dir.Join("junk")); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("what was to be left out: %v", err)
	}
	if _, err := s.Stat(t.Context(), dir.Join("result")); err != nil {
		t.Error(err)
	}
	wantOnly(t, notes)
}

// remoteOver writes one file by a Remote of its own, and gives the error.
func remoteOver(t *testing.T, url string, opts store.Options) error {
	s, err := store.Open(t.Context(), url, &opts)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := store.OpenRemote(t.Context(), s.Layout().Remote("r", -1), &store.RemoteOptions{URL: url, TempDir: t.TempDir(), Store: opts})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(r.LocalOutputDir(), "f"), nil, 0o600), r.Close())
}

// hdfsUser has a worker act as a user who may write nothing, and as one who may,
// at an address that the options alone name.
func hdfsUser(t *testing.T, server *servers.HDFS) {
	host, port, err := net.SplitHostPort(server.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(port)
	opts := store.Options{HDFS: store.HDFSOptions{Host: host, Port: n, User: "ada"}}
	if err := remoteOver(t, "hdfs:///q", opts); !errors.Is(err, store.ErrPermission) {
		t.Errorf("as ada: %v, want ErrPermission", err)
	}
	opts.HDFS.User = ""
	if err := remoteOver(t, "hdfs:///q", opts); err != nil {
		t.Errorf("as the owner: %v", err)
	}
}
