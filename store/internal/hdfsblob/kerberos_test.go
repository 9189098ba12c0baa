package hdfsblob

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestHDFSKerberos stores and reads with a keytab and with a ticket cache, at each level of protection that the library
// can read.
func TestHDFSKerberos(t *testing.T) {
	const suites = "dfs.encrypt.data.transfer.cipher.suites"
	for _, c := range []struct {
		name, rpc  string
		properties map[string]string
	}{
		{"authentication", "authentication", nil},
		{"integrity of requests", "integrity", map[string]string{"dfs.data.transfer.protection": "authentication"}},
		{"privacy", "privacy", map[string]string{suites: "AES/CTR/NoPadding"}},
	} {
		t.Run(c.name, func(t *testing.T) { testKerberos(t, c.rpc, c.properties) })
	}
}

func TestIntegrityOfDataIsRefused(t *testing.T) {
	b, err := Open("localhost", "/", &Options{Conf: map[string]string{"dfs.data.transfer.protection": "integrity"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("stat: %v, want ErrUnsupported", err)
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
