package tracker

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// TestFsspecGrammar holds what torchx/tracker/backend/fsspec.py makes of files.
func TestFsspecGrammar(t *testing.T) {
	for text, want := range map[string]string{
		"a=1\nb = 2 = 3 \n": `{"a": "1", "b": "2 = 3"}`,
		"k=\n":              `{"k": ""}`,
		"k=":                `{}`,
		"=v\nno\n\n":        `{}`,
		"#c=1\n #d=2\n":     `{"#d": "2"}`,
		"client_kwargs.endpoint_url=http://h\nclient_kwargs.x.y=1": `{"client_kwargs": {"endpoint_url": "http://h", "x": {"y": "1"}}}`,
		".a=1\na..b=2\n":  `{"": {"a": "1"}, "a": {"": {"b": "2"}}}`,
		"a.b=1\na=2\n":    `{"a": "2"}`,
		"a=1\ra=2\r\na=3": `{"a": "3"}`,
	} {
		o, err := parseFsspec(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := pyjson.Marshal(o); err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// TestFsspecOptions holds what each option of each protocol becomes.
func TestFsspecOptions(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token.json")
	if err := os.WriteFile(token, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := store.S3Options{AccessKey: "a", SecretKey: "b", SessionToken: "c"}
	tests := []struct {
		protocol, root, options string // options in the grammar, a line each
		want                    string
		more                    store.Options
	}{
		{"file", "/a b/c", "auto_mkdir=True", "/a b/c", store.Options{}},
		{"file", "file:///a", "", "/a", store.Options{}},
		{"local", "~/a?b", "use_listings_cache=False", "/home/u/a?b", store.Options{}},
		{"s3", "b/p", "", "s3://b/p", store.Options{}},
		{"s3a", "s3://b/p", "", "s3://b/p", store.Options{}},
		{"s3", "/b/p", "anon=True", "s3://b/p?anonymous=true", store.Options{}},
		{"s3", "b/p", "anon=False", "s3://b/p", store.Options{}}, // to s3fs it is true
		{"s3", "b/p", "profile=p", "s3://b/p?profile=p", store.Options{}},
		{"s3", "b/p", "key=a\nsecret=b\ntoken=c", "s3://b/p", store.Options{S3: keys}},
		{"s3", "b/p", "username=a\npassword=b\ntoken=c", "s3://b/p", store.Options{S3: keys}},
		{
			"s3", "b/p", "client_kwargs.aws_access_key_id=a\nclient_kwargs.aws_secret_access_key=b\nclient_kwargs.aws_session_token=c",
			"s3://b/p", store.Options{S3: keys},
		},
		{"s3", "b/p", "key=a\nsecret=b\ntoken=c\nclient_kwargs.aws_access_key_id=x", "s3://b/p", store.Options{S3: keys}},
		{"s3", "b/p", "endpoint_url=http://h", "s3://b/p?endpoint=http%3A%2F%2Fh&use_path_style=true", store.Options{}},
		{
			"s3", "b/p", "client_kwargs.endpoint_url=http://h:9\nclient_kwargs.region_name=eu-1",
			"s3://b/p?endpoint=http%3A%2F%2Fh%3A9&region=eu-1&use_path_style=true", store.Options{},
		},
		{
			"s3", "b/p", "client_kwargs.endpoint_url=http://x\nendpoint_url=http://h",
			"s3://b/p?endpoint=http%3A%2F%2Fh&use_path_style=true", store.Options{},
		},
		{
			"s3", "b/p", "endpoint_url=https://h\nconfig_kwargs.s3.addressing_style=virtual\nconfig_kwargs.signature_version=s3v4\nuse_ssl=True",
			"s3://b/p?endpoint=https%3A%2F%2Fh&use_path_style=false", store.Options{},
		},
		{
			"s3", "b/p", "s3_additional_kwargs.ServerSideEncryption=aws:kms\ns3_additional_kwargs.SSEKMSKeyId=k",
			"s3://b/p?kmskeyid=k&ssetype=aws%3Akms", store.Options{},
		},
		{"s3", "b/p", "cache_regions=True\ndefault_fill_cache=True\ndefault_cache_type=none\nskip_instance_cache=1", "s3://b/p", store.Options{}},
		{"gs", "gs://b/p", "", "gs://b/p", store.Options{}},
		{
			"gcs", "b/p", "endpoint_url=http://127.0.0.1:4443\ntoken=anon\nproject=p\naccess=full_control\nconsistency=md5\ndefault_location=EU",
			"gs://b/p?anonymous=true&endpoint=http%3A%2F%2F127.0.0.1%3A4443", store.Options{},
		},
		{"gs", "b/p", "token=google_default", "gs://b/p", store.Options{}},
		{"gs", "b/p", "token=" + token, "gs://b/p", store.Options{GCS: store.GCSOptions{CredentialsFile: token}}},
		{"gs", "b/p", "token=ya29.x", "gs://b/p", store.Options{GCS: store.GCSOptions{AccessToken: "ya29.x"}}},
		{
			"gs", "b/p", "token.refresh_token=r\ntoken.client_id=i\ntoken.client_secret=s", "gs://b/p",
			store.Options{GCS: store.GCSOptions{CredentialsJSON: `{"client_id":"i","client_secret":"s","refresh_token":"r","type":"authorized_user"}`}},
		},
		{"hdfs", "/p/q", "host=nn\nport=8020\nuser=ada\nkerb_ticket=/t", "hdfs://nn:8020/p/q?kerb_ticket=%2Ft&user=ada", store.Options{}},
		{"hdfs", "hdfs://nn:9000/p", "", "hdfs://nn:9000/p", store.Options{}},
		{"hdfs", "hdfs://other/p", "host=nn:8020", "hdfs://nn:8020/p", store.Options{}},
		{"arrow_hdfs", "/p", "host=hdfs://nn\nport=0", "hdfs://nn/p", store.Options{}},
		{"hdfs", "p", "host=default\nport=8020", "hdfs:///p", store.Options{}},
		{
			"hdfs", "/p", "host=ns\nextra_conf.dfs.client.use.datanode.hostname=true\nreplication=2", "hdfs://ns/p",
			store.Options{HDFS: store.HDFSOptions{ExtraConf: map[string]string{"dfs.client.use.datanode.hostname": "true", "dfs.replication": "2"}}},
		},
		{"dbfs", "/p", "instance=w.example\ntoken=t", "dbfs:/p", store.Options{DBFS: store.DBFSOptions{Host: "w.example", Token: "t"}}},
		{"dbfs", "dbfs:///Volumes/c/s/v", "instance=w.example\ntoken=t", "dbfs:/Volumes/c/s/v", store.Options{DBFS: store.DBFSOptions{Host: "w.example", Token: "t"}}},
		{"memory", "/x", "", "mem://x", store.Options{}},
	}
	seen := map[string]bool{}
	for _, test := range tests {
		o, err := parseFsspec(test.options)
		if err != nil {
			t.Fatal(err)
		}
		flat := map[string]string{}
		flatten(o, "", flat)
		for key := range flat {
			seen[test.protocol+" "+key] = true
		}
		got, err := fsspecRoot(test.protocol, test.root, o, []string{"HOME=/home/u"})
		test.more.Environ = []string{"HOME=/home/u"}
		if err != nil || got.URL != test.want || !reflect.DeepEqual(got.Options, test.more) {
			t.Errorf("%s %s with %q: %s, %v, want %s", test.protocol, test.root, test.options, got.URL, err, test.want)
		}
	}
	for _, p := range fsspecProtocols() {
		for _, o := range p.options {
			tried := slices.ContainsFunc(p.names, func(name string) bool {
				for key := range seen {
					if strings.HasPrefix(key, strings.TrimSuffix(name+" "+o.name, "*")) {
						return true
					}
				}
				return false
			})
			if !tried && o.set != nil {
				t.Errorf("no test tries the option %s of %s", o.name, p.names[0])
			}
		}
	}
}

// TestFsspecDefaults is about the variables of fsspec itself.
func TestFsspecDefaults(t *testing.T) {
	environ := []string{
		"FSSPEC_S3_KEY=a", "FSSPEC_S3_SECRET=b", `FSSPEC_S3={"anon": false, "client_kwargs": {"region_name": "eu-1"}, "key": "x"}`,
		"FSSPEC_S3A_ENDPOINT_URL=http://h", "FSSPEC_GCS_TOKEN=anon", "FSSPEC_S3_PROFILE=",
	}
	for _, test := range []struct{ protocol, options, want string }{
		{"s3", "", "s3://b?endpoint=http%3A%2F%2Fh&region=eu-1&use_path_style=true"},
		{"s3", "endpoint_url=http://g\nclient_kwargs.aws_session_token=c\n", "s3://b?endpoint=http%3A%2F%2Fg&use_path_style=true"},
		{"gs", "", "gs://b?anonymous=true"},
		{"memory", "", "mem://b"},
	} {
		o, err := parseFsspec(test.options)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fsspecRoot(test.protocol, "b", o, environ)
		if err != nil || got.URL != test.want {
			t.Errorf("%s %q: %s, %v, want %s", test.protocol, test.options, got.URL, err, test.want)
		}
		if test.protocol == "s3" && (got.Options.S3.AccessKey != "a" || got.Options.S3.SecretKey != "b") {
			t.Errorf("%s: the keys are %q, %q", test.protocol, string(got.Options.S3.AccessKey), string(got.Options.S3.SecretKey))
		}
	}
	if _, err := fsspecRoot("s3", "b", &pyjson.Object{}, []string{"FSSPEC_S3=hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("what is no object: %v", err)
	}
}

func TestFsspecHolds(t *testing.T) {
	root := FsspecRoot{URL: "s3://b/tracker?endpoint=http%3A%2F%2Fh"}
	for url, want := range map[string]bool{
		"s3://b/tracker?endpoint=http%3A%2F%2Fh": true, "s3://b/tracker.heirloom?endpoint=http%3A%2F%2Fh": true, "s3://b?endpoint=http%3A%2F%2Fh": true,
		"s3://b/tracker": false, "s3://b2/tracker?endpoint=http%3A%2F%2Fh": false, "gs://b/tracker?endpoint=http%3A%2F%2Fh": false, "/b": false, "": false,
	} {
		if got := root.Holds(url); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
	if (FsspecRoot{}).Holds("") || !(FsspecRoot{URL: "dbfs:/a"}).Holds("dbfs:/b") {
		t.Error("the zero root holds something, or that of a workspace nothing")
	}
}

func FuzzFsspec(f *testing.F) {
	f.Add("protocol=s3\nroot_path=b/p\nclient_kwargs.endpoint_url=http://h\n#c\n")
	f.Add("protocol=s3\nroot_path=b/p\nkey=AKIA\nsecret=0123456789abcdef\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseFsspec(text)
		if err != nil {
			return
		}
		root, err := fsspecRoot(o.Text("protocol"), o.Text("root_path"), o, nil)
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if key := string(root.Options.S3.SecretKey); len(key) > 8 && strings.Contains(root.URL, key) && !strings.Contains(o.Text("root_path"), key) && strings.Count(text, key) == 1 {
			t.Errorf("a secret is in the URL %s", root.URL)
		}
	})
}

// FuzzTextLines checks that no file of names can hide or forge a link.
func FuzzTextLines(f *testing.F) {
	f.Add([]byte("\nmodel\nmod"), "model")
	f.Fuzz(func(t *testing.T, body []byte, written string) {
		seen := map[string]bool{}
		for _, line := range textLines(body, map[string]bool{written: true}) {
			if seen[line] {
				t.Errorf("%q: %q comes twice", body, line)
			}
			seen[line] = true
		}
		for _, line := range textLines(append(append([]byte{}, body...), "\nlast\n"...), nil) {
			delete(seen, line)
		}
		if len(seen) > 0 {
			t.Errorf("%q: %v is gone once a line is added", body, seen)
		}
	})
}
