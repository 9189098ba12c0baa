package dbfsblob

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Config says which workspace to ask, and as whom. Either Token or ClientID and ClientSecret are set.
type Config struct {
	Host                   string // https://name, without a path; http is taken for this machine alone
	Token                  string // a personal access token, or one of OAuth
	ClientID, ClientSecret string // of a service principal (OAuth, machine to machine)
	Source                 string // where the credentials come from, for messages
}

// ErrNotConfigured tells that nothing names a workspace, or nothing says as whom to ask it.
var ErrNotConfigured = errors.New("no Databricks workspace is configured")

// Help is how to configure one.
const Help = "set DATABRICKS_HOST and DATABRICKS_TOKEN (or DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET), " +
	"or write a profile to ~/.databrickscfg and name it in DATABRICKS_CONFIG_PROFILE unless it is DEFAULT"

// LoadConfig reads what Databricks' own tools read: DATABRICKS_HOST, _TOKEN, _CLIENT_ID and _CLIENT_SECRET, and for what
// they leave open the profile that DATABRICKS_CONFIG_PROFILE names, or DEFAULT, in the file DATABRICKS_CONFIG_FILE, or
// .databrickscfg in HOME. A named profile has to exist. The error wraps ErrNotConfigured or fs.ErrInvalid.
func LoadConfig(getenv func(name string) string) (Config, error) {
	c := Config{
		Host: getenv("DATABRICKS_HOST"), Token: getenv("DATABRICKS_TOKEN"),
		ClientID: getenv("DATABRICKS_CLIENT_ID"), ClientSecret: getenv("DATABRICKS_CLIENT_SECRET"),
		Source: "the environment",
	}
	if profile := getenv("DATABRICKS_CONFIG_PROFILE"); profile != "" || !c.complete() {
		if err := c.fill(profile, configFile(getenv)); err != nil {
			return Config{}, err
		}
	}
	if !c.complete() {
		return Config{}, fmt.Errorf("%w: %s", ErrNotConfigured, Help)
	}
	host, err := cleanHost(c.Host)
	c.Host = host
	return c, err
}

func (c *Config) complete() bool { return c.Host != "" && c.authenticates() }

func (c *Config) authenticates() bool {
	return c.Token != "" || c.ClientID != "" && c.ClientSecret != ""
}

// configFile is the path of the file of profiles, "" where there can be none.
func configFile(getenv func(string) string) string {
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	file := getenv("DATABRICKS_CONFIG_FILE")
	switch rest, ok := strings.CutPrefix(file, "~/"); {
	case ok && home != "":
		return filepath.Join(home, rest)
	case file != "":
		return file
	case home != "":
		return filepath.Join(home, ".databrickscfg")
	}
	return ""
}

// fill takes what is not set from a profile of the file; a profile without a name is DEFAULT and need not exist.
func (c *Config) fill(profile, file string) error {
	section, err := readProfile(file, cmp.Or(profile, "DEFAULT"))
	if errors.Is(err, fs.ErrNotExist) && profile == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the Databricks profile %s: %w", cmp.Or(profile, "DEFAULT"), err)
	}
	c.Host = cmp.Or(c.Host, section["host"])
	if c.authenticates() {
		return nil
	}
	c.Token, c.ClientID, c.ClientSecret = section["token"], section["client_id"], section["client_secret"]
	c.Source = fmt.Sprintf("the profile %s in %s", cmp.Or(profile, "DEFAULT"), file)
	if how := section["auth_type"]; how != "" && !c.authenticates() {
		return fmt.Errorf("%w: the profile %s asks for auth_type %s, which is not supported; %s",
			ErrNotConfigured, cmp.Or(profile, "DEFAULT"), how, Help)
	}
	return nil
}

// readProfile gives the settings of a section of an INI file. fs.ErrNotExist also means that there is no such section.
func readProfile(file, profile string) (map[string]string, error) {
	if file == "" {
		return nil, fs.ErrNotExist
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	section, found := map[string]string{}, false
	current := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			current = strings.TrimSpace(strings.Trim(line, "[]"))
			found = found || current == profile
		case current == profile:
			name, value, _ := strings.Cut(line, "=")
			section[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if !found {
		return nil, fmt.Errorf("%s has no section [%s]: %w", file, profile, fs.ErrNotExist)
	}
	return section, nil
}

// cleanHost gives the host its scheme and drops what follows it, such as the ?o= that one copies from a browser. A token
// goes over plain HTTP to this machine only.
func cleanHost(host string) (string, error) {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return "", fmt.Errorf("the Databricks host is no address like https://name.cloud.databricks.com: %w", fs.ErrInvalid)
	}
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return "", fmt.Errorf("the Databricks host %s://%s is not reached by https: %w", u.Scheme, u.Host, fs.ErrInvalid)
	}
	return u.Scheme + "://" + u.Host, nil
}
