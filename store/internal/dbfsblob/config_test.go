package dbfsblob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

const profiles = `; a comment
[DEFAULT]
host = https://default.example/
token = default-token

# another
[ prod ]
host          = prod.example
client_id     = prod-id
client_secret = prod-secret

[cli]
host = https://cli.example
auth_type = databricks-cli

[half]
host = https://half.example
`

func TestLoadConfig(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".databrickscfg")
	if err := os.WriteFile(file, []byte(profiles), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		want Config // with Source "" for any
		err  error
		says string
	}{
		{name: "nothing", err: ErrNotConfigured, says: "DATABRICKS_HOST"},
		{name: "no file", env: map[string]string{"HOME": "/none"}, err: ErrNotConfigured, says: "~/.databrickscfg"},
		{
			name: "host and token", env: map[string]string{"DATABRICKS_HOST": "w.example", "DATABRICKS_TOKEN": "t", "HOME": home},
			want: Config{Host: "https://w.example", Token: "t", Source: "the environment"},
		},
		{
			name: "host as copied from a browser", env: map[string]string{"DATABRICKS_HOST": "https://w.example/?o=123#x", "DATABRICKS_TOKEN": "t"},
			want: Config{Host: "https://w.example", Token: "t", Source: "the environment"},
		},
		{
			name: "a service principal", env: map[string]string{"DATABRICKS_HOST": "https://w.example", "DATABRICKS_CLIENT_ID": "i", "DATABRICKS_CLIENT_SECRET": "s"},
			want: Config{Host: "https://w.example", ClientID: "i", ClientSecret: "s", Source: "the environment"},
		},
		{
			name: "the default profile", env: map[string]string{"HOME": home},
			want: Config{Host: "https://default.example", Token: "default-token", Source: "the profile DEFAULT in " + file},
		},
		{
			name: "a token for the host of the profile", env: map[string]string{"HOME": home, "DATABRICKS_TOKEN": "mine"},
			want: Config{Host: "https://default.example", Token: "mine", Source: "the environment"},
		},
		{
			name: "a named profile", env: map[string]string{"HOME": home, "DATABRICKS_CONFIG_PROFILE": "prod"},
			want: Config{Host: "https://prod.example", ClientID: "prod-id", ClientSecret: "prod-secret", Source: "the profile prod in " + file},
		},
		{
			name: "another file", env: map[string]string{"DATABRICKS_CONFIG_FILE": file, "DATABRICKS_CONFIG_PROFILE": "prod"},
			want: Config{Host: "https://prod.example", ClientID: "prod-id", ClientSecret: "prod-secret", Source: "the profile prod in " + file},
		},
		{
			name: "another file, from home", env: map[string]string{"HOME": home, "DATABRICKS_CONFIG_FILE": "~/.databrickscfg"},
			want: Config{Host: "https://default.example", Token: "default-token", Source: "the profile DEFAULT in " + file},
		},
		{name: "no such profile", env: map[string]string{"HOME": home, "DATABRICKS_CONFIG_PROFILE": "dev"}, err: fs.ErrNotExist, says: "no section [dev]"},
		{name: "a profile without credentials", env: map[string]string{"HOME": home, "DATABRICKS_CONFIG_PROFILE": "half"}, err: ErrNotConfigured, says: "DATABRICKS_TOKEN"},
		{name: "a way that is not known", env: map[string]string{"HOME": home, "DATABRICKS_CONFIG_PROFILE": "cli"}, err: ErrNotConfigured, says: "auth_type databricks-cli"},
		{name: "plain HTTP", env: map[string]string{"DATABRICKS_HOST": "http://w.example", "DATABRICKS_TOKEN": "secret"}, err: fs.ErrInvalid, says: "https"},
		{name: "a user in the host", env: map[string]string{"DATABRICKS_HOST": "https://u:secret@w.example", "DATABRICKS_TOKEN": "t"}, err: fs.ErrInvalid, says: "no address"},
		{
			name: "plain HTTP on this machine", env: map[string]string{"DATABRICKS_HOST": "http://127.0.0.1:8080", "DATABRICKS_TOKEN": "t"},
			want: Config{Host: "http://127.0.0.1:8080", Token: "t", Source: "the environment"},
		},
	} {
		got, err := LoadConfig(func(name string) string { return c.env[name] })
		if c.err != nil {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret@") {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// TestOAuth writes as a service principal: one token for many requests, another when it is refused or near its end.
func TestOAuth(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		b = openAs(t, b.Dir(), Config{Host: server.Host, ClientID: server.ClientID, ClientSecret: server.ClientSecret, Source: "the test"})
		put := func(want int) {
			t.Helper()
			if err := b.Put(t.Context(), "k", []byte("x")); err != nil {
				t.Error(err)
			}
			wantBody(t, b, "k", "x")
			if got := server.TokensIssued(); got != want {
				t.Errorf("%d tokens were asked for, want %d", got, want)
			}
		}
		put(1)
		server.ExpireTokens()
		put(2)
		b.client.auth.until = time.Now()
		put(3)
		wrong := openAs(t, b.Dir(), Config{Host: server.Host, ClientID: server.ClientID, ClientSecret: "wrong-secret", Source: "the test"})
		err := wrong.Put(t.Context(), "k", nil)
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "client id from the test") {
			t.Errorf("a wrong secret: %v", err)
		}
		if strings.Contains(err.Error(), "wrong-secret") || strings.Contains(err.Error(), "Basic") {
			t.Errorf("the error shows the secret: %v", err)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	ok := Config{Host: "https://w.example", Token: "t"}
	for root, c := range map[string]Config{"/Volumes/main": ok, "/Volumes": ok, "/Volumes/main/default": ok, "/a": {Host: "http://w.example"}} {
		if _, err := Open(root, c); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s on %s: %v, want ErrInvalid", root, c.Host, err)
		}
	}
}
