package hdfsblob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// federated is a configuration with two nameservices of two NameNodes, one of one, and one that is incomplete.
var federated = conf{
	"fs.defaultFS":                      "hdfs://one",
	"dfs.nameservices":                  "one,two,single,broken",
	"dfs.ha.namenodes.one":              "a, b",
	"dfs.namenode.rpc-address.one.a":    "a.one:9000",
	"dfs.namenode.rpc-address.one.b":    "b.one:9000",
	"dfs.ha.namenodes.two":              "a,b",
	"dfs.namenode.rpc-address.two.a":    "a.two:9000",
	"dfs.namenode.rpc-address.two.b":    "b.two:9000",
	"dfs.namenode.rpc-address.single":   "single:9000",
	"dfs.ha.namenodes.broken":           "a",
	"dfs.namenode.rpc-address.broken.b": "b.broken:9000",
}

func TestNameNodes(t *testing.T) {
	for _, c := range []struct {
		authority, want string // want is "" for ErrInvalid
	}{
		{"one", "a.one:9000 b.one:9000"},
		{"two", "a.two:9000 b.two:9000"},
		{"single", "single:9000"},
		{"host", "host:8020"},
		{"host:1", "host:1"},
		{"[::1]:9", "[::1]:9"},
		{"broken", ""},
		{"host:port", ""},
		{"host:0", ""},
		{":8020", ""},
	} {
		got, err := federated.nameNodes(c.authority)
		if strings.Join(got, " ") != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %q, %v, want %q", c.authority, got, err, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name, authority string
		conf            map[string]string
	}{
		{"no host anywhere", "", nil},
		{"a default that is not HDFS", "", map[string]string{"fs.defaultFS": "file:///"}},
		{"a default that is no URL", "", map[string]string{"fs.defaultFS": ":\x00"}},
		{"a user in the host", "user@host", nil},
		{"a umask that is no number", "host", map[string]string{"fs.permissions.umask-mode": "u=rwx"}},
	} {
		if _, err := Open(c.authority, "/", &Options{Conf: c.conf}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", c.name, err)
		}
	}
}

// TestProtection sees refused, by name and with the way out, under what the library garbles what it reads.
func TestProtection(t *testing.T) {
	const level, encrypt = "dfs.data.transfer.protection", "dfs.encrypt.data.transfer"
	for _, c := range []struct {
		conf map[string]string
		want string // in the refusal; "" where none is
	}{
		{nil, ""},
		{map[string]string{level: "authentication"}, ""},
		{map[string]string{level: "integrity"}, level + "=integrity is set, "},
		{map[string]string{level: "authentication,integrity"}, level + "=integrity is set, "},
		{map[string]string{level: "privacy"}, level + "=privacy is set without AES"},
		{map[string]string{level: "privacy", cipherSuites: "aes/ctr/nopadding"}, ""},
		{map[string]string{level: "authentication,privacy"}, level + "=privacy is set without AES"},
		{map[string]string{encrypt: "true"}, encrypt + "=true is set without AES"},
		{map[string]string{encrypt: "true", cipherSuites: aesSuite}, ""},
		{map[string]string{encrypt: "false"}, ""},
	} {
		b, err := Open("127.0.0.1:1", "/", &Options{Conf: c.conf})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		_, err = b.Stat(t.Context(), "k")
		if c.want == "" {
			if !errors.Is(err, dirtree.ErrUnavailable) {
				t.Errorf("%v: %v, want ErrUnavailable of the server that is not there", c.conf, err)
			}
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), cipherSuites+"="+aesSuite) {
			t.Errorf("%v: %v, want ErrUnsupported that says %q and the way out", c.conf, err, c.want)
		}
	}
}

func TestConfFiles(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "etc", "hadoop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const site = `<configuration>
<property><name>fs.defaultFS</name><value>hdfs://${name.node}:${port}</value></property>
<property><name>name.node</name><value>${env.NN}</value></property>
<property><name>port</name><value> 9000 </value></property>
<property><name>who</name><value>${user.name} ${unknown}</value></property>
<property><name>loop</name><value>${loop}x</value></property>
</configuration>`
	if err := os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(site), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"HADOOP_HOME=" + home, "HADOOP_CONF_DIR=" + dir} {
		getenv := lookup([]string{where, "NN=nn.example", "HADOOP_USER_NAME=ada"})
		b, err := Open("", "/p", &Options{Getenv: getenv, Conf: map[string]string{"port": "9001"}})
		if err != nil {
			t.Fatal(err)
		}
		if b.Authority() != "nn.example:9001" || b.user != "ada" || b.conf["who"] != "ada ${unknown}" {
			t.Errorf("%s: authority %s, user %s, %q", where, b.Authority(), b.user, b.conf["who"])
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "hdfs-site.xml"), []byte("<configuration>"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open("", "/", &Options{Getenv: lookup([]string{"HADOOP_CONF_DIR=" + dir})})
	if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a broken file: %v, want ErrInvalid that names it", err)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "5": 5, "128m": 128 << 20, "1G": 1 << 30, "2k": 2048, "x": -1, "-1": -1, "m": -1} {
		got, err := conf{"n": text}.number("n")
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

// thrown is an exception of a server as the library gives it.
type thrown struct{ class, method string }

func (e thrown) Error() string     { return e.method + " failed" }
func (e thrown) Method() string    { return e.method }
func (e thrown) Desc() string      { return "ERROR_APPLICATION" }
func (e thrown) Exception() string { return e.class }
func (e thrown) Message() string   { return "the first line\n\tat java" }

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error
	}{
		{thrown{class: "org.apache.hadoop.hdfs.server.namenode.SafeModeException"}, dirtree.ErrUnavailable},
		{thrown{class: "org.apache.hadoop.ipc.RetriableException"}, dirtree.ErrUnavailable},
		{thrown{class: "org.apache.hadoop.ipc.StandbyException"}, dirtree.ErrUnavailable},
		{thrown{class: "org.apache.hadoop.security.AccessControlException"}, fs.ErrPermission},
		{thrown{class: "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"}, dirtree.ErrNoSpace},
		{thrown{class: "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException"}, dirtree.ErrNoSpace},
		{thrown{class: "org.apache.hadoop.fs.FileAlreadyExistsException"}, fs.ErrExist},
		{thrown{class: "java.io.FileNotFoundException"}, fs.ErrNotExist},
		{thrown{class: "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException"}, fs.ErrInvalid},
		{thrown{class: "java.io.IOException", method: "addBlock"}, dirtree.ErrUnavailable},
		{thrown{class: "java.io.IOException", method: "rename2"}, nil},
		{errors.New("no available namenodes: dial"), dirtree.ErrUnavailable},
		{&fs.PathError{Op: "stat", Path: "/p", Err: fs.ErrNotExist}, fs.ErrNotExist},
	} {
		err := wrap("get", "/p", c.err)
		e, ok := errors.AsType[*dirtree.Error](err)
		if !ok || e.Kind != c.want {
			t.Errorf("%v: kind %v, want %v", c.err, e.Kind, c.want)
		}
	}
	err := wrap("get", "/p", thrown{class: "a.b.SomeException"})
	if want := "get /p: SomeException: the first line"; err.Error() != want {
		t.Errorf("the text is %q, want %q", err, want)
	}
}
