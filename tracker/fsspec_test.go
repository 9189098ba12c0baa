package tracker_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestFsspecFactory opens what TorchX's configuration describes.
func TestFsspecFactory(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	tests := []struct{ name, text string }{
		{"plain", "protocol=file\nroot_path=" + root + "\n"},
		{"all that the grammar allows", "# comment\r\n#=x\n  protocol = file  \nnot a line\n=x\nauto_mkdir=True\nroot_path=/nowhere\nroot_path = file://" + root + "\nlast="},
		{"end without a line end", "protocol=local\nroot_path=local://" + root},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := filepath.Join(dir, "tracker.conf")
			check(t, os.WriteFile(config, []byte(test.text), 0o600))
			if i%2 == 1 {
				config = "file://" + config
			}
			run, err := tracker.FromEnviron(t.Context(), []string{"TORCHX_JOB_ID=j", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + config}, nil)
			check(t, err)
			check(t, run.AddMetadata(t.Context(), object("name", test.name)))
			check(t, run.Close())
			m, err := tracker.NewFileTracker(openStore(t, root, nil), nil).Metadata(t.Context(), "j")
			check(t, err)
			if m.Text("name") != test.name {
				t.Errorf("metadata %s", dump(t, m))
			}
		})
	}
}

func TestFsspecRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, text, want string }{
		{"no protocol", "root_path=/x\n", "both protocol and root_path"},
		{"no root", "protocol=file\nroot_path=\n", "both protocol and root_path"},
		{"cut off", "protocol=file\nroot_path=", "both protocol and root_path"},
		{"indented comment", "  #protocol=file\nroot_path=/x\n", "both protocol and root_path"},
		{"unknown protocol", "protocol=ftp\nroot_path=/x\n", `protocol "ftp" of fsspec is not supported here; supported are file, local, s3, s3a, gs, gcs, hdfs, arrow_hdfs, dbfs, memory`},
		{"Azure", "protocol=abfs\nroot_path=c/p\naccount_key=hunter2\n", `protocol "abfs"`},
		{"Azure's old one", "protocol=adl\nroot_path=c/p\n", `protocol "adl"`},
		{"unknown option", "protocol=s3\nroot_path=b/p\nconfig_kwargs.retries.max=3\n", `"config_kwargs.retries.max"`},
		{"option of another", "protocol=file\nroot_path=/x\nendpoint_url=http://h\n", `"endpoint_url"`},
		{"unknown secret", "protocol=s3\nroot_path=b/p\nsecret_key=hunter2\n", `option "secret_key" of protocol s3 is not supported here; supported are: anon, cache_regions, client_kwargs.aws_access_key_id`},
		{"half of the keys", "protocol=s3\nroot_path=b/p\nsecret=hunter2\n", "belong together"},
		{"endpoint with a password", "protocol=s3\nroot_path=b/p\nendpoint_url=http://u:hunter2@h\n", "no password"},
		{"endpoint of gs with a password", "protocol=gs\nroot_path=b/p\nendpoint_url=http://u:hunter2@h\n", "no password"},
		{"endpoint that is none", "protocol=gs\nroot_path=b/p\nendpoint_url=h:1\n", "http://127.0.0.1:9000"},
		{"old signature", "protocol=s3\nroot_path=b/p\nconfig_kwargs.signature_version=s3\n", "s3v4"},
		{"addressing", "protocol=s3\nroot_path=b/p\nconfig_kwargs.s3.addressing_style=x\n", "path, virtual or auto"},
		{"token file", "protocol=gs\nroot_path=b/p\ntoken=/hunter2.json\n", "no such file"},
		{"tokens of gcsfs", "protocol=gs\nroot_path=b/p\ntoken=cache\n", "google_default"},
		{"parameters in the path", "protocol=s3\nroot_path=b/p?endpoint=http://h\n", "question mark"},
		{"a URL as a file", "protocol=file\nroot_path=s3://b/p\n", "URL of something else"},
		{"port", "protocol=hdfs\nroot_path=/p\nhost=h\nport=x\n", "no port"},
		{"no host", "protocol=hdfs\nroot_path=/p\n", "names no host"},
		{"host of Databricks", "protocol=dbfs\nroot_path=/p\ninstance=http://w.example\ntoken=hunter2\n", "https"},
		{"trailing dot", "protocol=s3\nroot_path=b/p\nclient_kwargs.=1\n", `"client_kwargs."`},
		{"value and members", "protocol=s3\nroot_path=b/p\na=2\na.b=1\n", `"a.b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := filepath.Join(dir, "tracker.conf")
			check(t, os.WriteFile(config, []byte(test.text), 0o600))
			_, err := tracker.DefaultFactories(nil)["fsspec"](t.Context(), config)
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
	fsspec := tracker.DefaultFactories(nil)["fsspec"]
	if _, err := fsspec(t.Context(), ""); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "TORCHX_TRACKER_FSSPEC_CONFIG") {
		t.Errorf("no configuration: %v", err)
	}
	for _, config := range []string{"simplecache::s3://b/c", "abfs://c/f", "s3://b", "s3://b/"} {
		if _, err := fsspec(t.Context(), config); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), config) {
			t.Errorf("the configuration %s: %v", config, err)
		}
	}
	if _, err := fsspec(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// TestFsspecOnServers follows a configuration that lies in the bucket it leads to.
func TestFsspecOnServers(t *testing.T) {
	s3, gcs := servers.MinIO(t), servers.FakeGCS(t)
	for _, p := range []struct {
		place
		environ []string
	}{{place{"s3", s3.URL("")}, s3.Environ}, {place{"gcs", gcs.URL("")}, gcs.Environ}} {
		t.Run(p.name, func(t *testing.T) {
			s := openStore(t, p.url, &store.Options{Environ: p.environ})
			root := s.Sub("some/tracker")
			text, err := os.ReadFile(writeConfig(t, root))
			check(t, err)
			put(t, s, "conf/tracker.conf", string(text))
			place, query, asked := strings.Cut(p.url, "?")
			config := place + "/conf/tracker.conf"
			if asked {
				config += "?" + query
			}
			environ := append(p.environ, "TORCHX_JOB_ID=j", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG="+config)
			run, err := tracker.FromEnviron(t.Context(), environ, nil)
			check(t, err)
			check(t, run.AddMetadata(t.Context(), object("a", 1)))
			check(t, run.Close())
			same(t, "runs", ids(t, tracker.NewFileTracker(root, nil), ""), []string{"j"})
		})
	}
}

// TestFsspecRoundTrip reads what heirloom tells TorchX about a store: the same one.
func TestFsspecRoundTrip(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", t.TempDir())
	for _, place := range []string{
		filepath.Join(t.TempDir(), "a b"),
		"s3://b/p", "s3://b/p?endpoint=http%3A%2F%2Fh%3A1&region=r&use_path_style=true", "s3://b?anonymous=true&profile=x",
		"gs://b/p", "gs://b/p?anonymous=true&endpoint=http%3A%2F%2Fh%3A1",
		"hdfs://nn:8020/p/q?kerb_ticket=%2Ft&user=ada", "hdfs://nn/p", "dbfs:/p", "dbfs:/Volumes/c/s/v/p",
	} {
		environ := []string{"DATABRICKS_HOST=https://w.example", "DATABRICKS_TOKEN=t", "HEIRLOOM_DBFS=rest"}
		s := openStore(t, place, &store.Options{Environ: environ})
		root, err := tracker.ReadFsspec(t.Context(), writeConfig(t, s), environ)
		if err != nil || root.URL != s.URL() {
			t.Errorf("%s: %s, %v", s.URL(), root.URL, err)
		}
	}
}

// TestFsspecDatabricks has the workspace and the token in the configuration alone.
func TestFsspecDatabricks(t *testing.T) {
	d := servers.DBFS(t)
	for _, name := range []string{"DATABRICKS_HOST", "DATABRICKS_TOKEN"} {
		t.Setenv(name, "")
	}
	config := filepath.Join(t.TempDir(), "fsspec.conf")
	check(t, os.WriteFile(config, []byte("protocol=dbfs\nroot_path=/tracker\ninstance="+d.Host+"\ntoken="+d.Token+"\n"), 0o600))
	run, err := tracker.FromEnviron(t.Context(), []string{"TORCHX_JOB_ID=j", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + config}, nil)
	check(t, err)
	check(t, run.AddMetadata(t.Context(), object("a", 1)))
	check(t, run.Close())
	s := openStore(t, "dbfs:/tracker", &store.Options{Environ: d.Environ})
	same(t, "runs", ids(t, tracker.NewFileTracker(s, nil), ""), []string{"j"})
}

// TestFsspecFromWeb reads a configuration from a web server.
func TestFsspecFromWeb(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		switch {
		case password != "hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/tracker.conf":
			w.Write([]byte("protocol=file\nroot_path=" + root + "\n"))
		case r.URL.Path == "/long":
			w.Write(make([]byte, 2<<20))
		case r.URL.Path == "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	base := strings.Replace(server.URL, "://", "://u:hunter2@", 1)
	run, err := tracker.FromEnviron(t.Context(), []string{"TORCHX_JOB_ID=j", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + base + "/tracker.conf"}, nil)
	check(t, err)
	check(t, run.AddMetadata(t.Context(), object("a", 1)))
	check(t, run.Close())
	same(t, "runs", ids(t, tracker.NewFileTracker(openStore(t, root, nil), nil), ""), []string{"j"})
	refuses := func(config string, want error) {
		t.Helper()
		_, err := tracker.ReadFsspec(t.Context(), config, nil)
		if !errors.Is(err, want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %v without the password", config, err, want)
		}
	}
	refuses(base+"/missing", store.ErrNotExist)
	refuses(server.URL+"/tracker.conf", store.ErrPermission)
	refuses(base+"/long", store.ErrInvalid)
	refuses(base+"/down", store.ErrUnavailable)
	server.Close()
	refuses(base+"/tracker.conf", store.ErrUnavailable)
}

// TestFsspecSecrets has the credentials in the configuration alone, and looks
// for them in all that is left or said of them.
func TestFsspecSecrets(t *testing.T) {
	server := servers.VersityGW(t)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"} {
		t.Setenv(name, "")
	}
	config := func(secret string) string {
		file := filepath.Join(t.TempDir(), "fsspec.conf")
		check(t, os.WriteFile(file, []byte("protocol=s3\nroot_path="+server.Bucket+"/tracker\nclient_kwargs.endpoint_url="+server.Endpoint+
			"\nclient_kwargs.region_name=us-east-1\nkey="+server.AccessKey+"\nsecret="+secret+"\n"), 0o600))
		return file
	}
	good := config(server.SecretKey)
	root, err := tracker.ReadFsspec(t.Context(), good, nil)
	check(t, err)
	s := openStore(t, root.URL, &root.Options)
	tr := tracker.NewFileTracker(s, nil)
	for _, environ := range [][]string{
		{"TORCHX_JOB_ID=torchx", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + good, "TORCHX_PARENT_RUN_ID=p"},
		{"HEIRLOOM_RUN_ID=heirloom", "HEIRLOOM_TRACKER=" + root.URL, "TORCHX_TRACKER_FSSPEC_CONFIG=" + good},
	} {
		run, err := tracker.FromEnviron(t.Context(), environ, nil)
		check(t, err)
		check(t, run.AddMetadata(t.Context(), object("a", 1)))
		check(t, run.Close())
	}
	same(t, "runs", ids(t, tr, ""), []string{"heirloom", "torchx"})

	left := root.URL + s.URL() + s.KeyURL("")
	for key, body := range objects(t, s) {
		left += key + body
	}
	for _, setting := range s.FsspecConfig() {
		left += setting.Value
	}
	for _, secret := range []string{server.SecretKey, server.AccessKey} {
		if strings.Contains(left, secret) {
			t.Errorf("%s is seen in\n%s", secret, left)
		}
	}
	_, err = tracker.FromEnviron(t.Context(), []string{"HEIRLOOM_RUN_ID=h", "HEIRLOOM_TRACKER=s3://other/p", "TORCHX_TRACKER_FSSPEC_CONFIG=" + good, "HEIRLOOM_PARENT_RUN_ID=p"}, nil)
	if err == nil || !strings.Contains(err.Error(), "no AWS credentials") {
		t.Errorf("in another bucket: %v, want none of the credentials", err)
	}
	_, err = tracker.FromEnviron(t.Context(), []string{"TORCHX_JOB_ID=j", "TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + config("hunter2-hunter2"), "TORCHX_PARENT_RUN_ID=p"}, nil)
	if !errors.Is(err, store.ErrPermission) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), server.AccessKey) {
		t.Errorf("with a wrong secret: %v", err)
	}
}
