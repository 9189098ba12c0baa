package hdfsblob

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestHDFSKerberos stores and reads with a keytab and with a ticket cache, at each level of protection that the library
// can read.
func TestHDFSKerberos(t *testing.T) {
	for _, c := range []struct {
		name, rpc  string
		properties map[string]string
	}{
		{"authentication", "authentication", nil},
		{"integrity of requests", "integrity", map[string]string{"dfs.data.transfer.protection": "authentication"}},
		{"privacy", "privacy", map[string]string{cipherSuites: aesSuite}},
	} {
		t.Run(c.name, func(t *testing.T) { testKerberos(t, c.rpc, c.properties) })
	}
}

func testKerberos(t *testing.T, protection string, properties map[string]string) {
	kdc := servers.Kerberos(t)
	h := servers.Hadoop(t, &servers.HadoopOptions{Kerberos: kdc, Protection: protection, Properties: properties})
	keytab := kdc.Keytab("user", "heirloom")
	getenv := lookup(h.Environ)
	admin, err := Open("", "/", &Options{Getenv: getenv, Keytab: filepath.Join(filepath.Dir(keytab), "servers.keytab"), Principal: "hdfs/localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	err = admin.with(t.Context(), "make", "/shared", func(c *client) error {
		if err := c.MkdirAll("/shared", 0o777); err != nil {
			return err
		}
		return c.Chmod("/shared", 0o777)
	})
	if err != nil {
		t.Fatal(err)
	}
	body := random(3 << 20)
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"keytab", Options{Keytab: keytab, Principal: "heirloom@" + kdc.Realm}},
		{"ticket cache", Options{TicketCache: kdc.TicketCache("heirloom", keytab)}},
	} {
		c.opts.Getenv = getenv
		b, err := Open("", "/shared", &c.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Create(t.Context(), c.name, body, ""); err != nil {
			t.Errorf("create by %s: %v", c.name, err)
			continue
		}
		if _, err := b.Create(t.Context(), c.name, body, ""); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create again by %s: %v", c.name, err)
		}
		if got, err := b.get(t, c.name); err != nil || !bytes.Equal(got, body) {
			t.Errorf("read by %s: %d bytes, %v", c.name, len(got), err)
		}
		if err := b.Delete(t.Context(), c.name, nil); err != nil {
			t.Errorf("delete by %s: %v", c.name, err)
		}
	}
	if protection == "authentication" {
		t.Run("tickets expire", func(t *testing.T) { testTicketsExpire(t, kdc, getenv) })
	}
	none := filepath.Join(t.TempDir(), "none")
	b, err := Open("", "/shared", &Options{Getenv: getenv, TicketCache: none})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("stat without a ticket: %v, want ErrPermission", err)
	}
}

// testTicketsExpire outlives tickets of 3 seconds: a keytab gets new ones, and a ticket cache wants kinit, after which the
// bucket that failed goes on.
func testTicketsExpire(t *testing.T, kdc *servers.KDC, getenv func(string) string) {
	const life = 3 * time.Second
	keytab := kdc.Keytab("short", "short")
	kdc.Limit("short", life)
	cache := filepath.Join(t.TempDir(), "tickets")
	kdc.Tickets(cache, "short", keytab, life)
	byKeytab, byCache := ticketBucket(t, getenv, Options{Keytab: keytab, Principal: "short"}), ticketBucket(t, getenv, Options{TicketCache: cache})
	var err error
	start := time.Now()
	for time.Since(start) < life+time.Second || err == nil && time.Since(start) < 10*life {
		if err == nil {
			err = freshStat(t, byCache)
		}
		wantStat(t, byKeytab, "stat by keytab")
		wait(t.Context(), 100*time.Millisecond)
	}
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "kinit") {
		t.Errorf("stat with an expired ticket: %v, want ErrPermission that names kinit", err)
	}
	kdc.Limit("short", time.Hour)
	kdc.Tickets(cache, "short", keytab, time.Hour)
	wantStat(t, byCache, "stat with a ticket cache that was renewed")
}

// wantStat wants a request to succeed, if not the first: on a slow machine a ticket may expire between when it is
// taken and when it is shown.
func wantStat(t *testing.T, b *Bucket, what string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	err := freshStat(t, b)
	for err != nil && time.Now().Before(deadline) {
		err = freshStat(t, b)
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func ticketBucket(t *testing.T, getenv func(string) string, opts Options) *Bucket {
	t.Helper()
	opts.Getenv = getenv
	b, err := Open("", "/shared", &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// freshStat makes a request on a connection of its own, which is what takes a ticket.
func freshStat(t *testing.T, b *Bucket) error {
	t.Helper()
	for {
		c, err := b.idleClient()
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			break
		}
		c.discard()
	}
	_, err := b.Stat(t.Context(), "none")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
