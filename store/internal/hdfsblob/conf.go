package hdfsblob

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

const (
	defaultPort = "8020"
	maxNesting  = 20 // of variables in a value, as in Hadoop
)

// conf is Hadoop's configuration with variables replaced.
type conf map[string]string

// loadConf reads core-site.xml and hdfs-site.xml of the directory that the environment names: HADOOP_CONF_DIR, else
// $HADOOP_HOME/etc/hadoop, else $HADOOP_HOME/conf. extra wins over the files. Nothing found is an empty
// configuration.
func loadConf(getenv func(string) string, extra map[string]string) (conf, error) {
	var dirs []string
	if dir := getenv("HADOOP_CONF_DIR"); dir != "" {
		dirs = append(dirs, dir)
	} else if home := getenv("HADOOP_HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, "etc", "hadoop"), filepath.Join(home, "conf"))
	}
	raw := hadoopconf.HadoopConf{}
	for _, dir := range dirs {
		found, err := hadoopconf.Load(dir)
		if err != nil {
			return nil, opaque("read the Hadoop configuration", fs.ErrInvalid, err)
		}
		if found != nil {
			raw = found
			break
		}
	}
	maps.Copy(raw, extra)
	c := conf{}
	for name, value := range raw {
		c[name] = strings.TrimSpace(substitute(value, raw, getenv))
	}
	return c, nil
}

var variable = pattern.Lazy(`\$\{[^\}\$ ]+\}`)

// substitute replaces ${name} by the property, ${user.name} and ${env.NAME} by what they say, as Hadoop does, and
// leaves what is unknown.
func substitute(value string, raw map[string]string, getenv func(string) string) string {
	for range maxNesting {
		next := variable().ReplaceAllStringFunc(value, func(v string) string {
			name := v[2 : len(v)-1]
			if found, ok := raw[name]; ok {
				return found
			}
			env, ok := strings.CutPrefix(name, "env.")
			switch {
			case name == "user.name":
				return userName(getenv)
			case ok && getenv(env) != "":
				return getenv(env)
			}
			return v
		})
		if next == value {
			break
		}
		value = next
	}
	return value
}

// authority is the host that a URL leaves out: that of fs.defaultFS.
func (c conf) authority() (string, error) {
	text := c["fs.defaultFS"]
	if text == "" {
		text = c["fs.default.name"]
	}
	u, err := url.Parse(text)
	if err == nil && u.Scheme != "" && u.Scheme != "hdfs" {
		return "", fmt.Errorf("the URL names no host, and fs.defaultFS is %s, which is no HDFS; name a host or one of dfs.nameservices: %w", text, fs.ErrInvalid)
	}
	if err != nil || u.Scheme != "hdfs" || u.Host == "" {
		return "", fmt.Errorf("the URL names no host, and no Hadoop configuration says one (fs.defaultFS in HADOOP_CONF_DIR): %w", fs.ErrInvalid)
	}
	return u.Host, nil
}

// nameNodes are the addresses behind an authority: those of a nameservice of the configuration and no other one's,
// or the host itself.
func (c conf) nameNodes(authority string) ([]string, error) {
	if c.isNameservice(authority) {
		return c.nameservice(authority)
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = strings.Trim(authority, "[]"), defaultPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return nil, fmt.Errorf("%q is no host and port: %w", authority, fs.ErrInvalid)
	}
	return []string{net.JoinHostPort(host, port)}, nil
}

func (c conf) isNameservice(name string) bool {
	if c["dfs.ha.namenodes."+name] != "" || c["dfs.namenode.rpc-address."+name] != "" {
		return true
	}
	for service := range strings.SplitSeq(c["dfs.nameservices"], ",") {
		if strings.TrimSpace(service) == name {
			return true
		}
	}
	return false
}

func (c conf) nameservice(name string) ([]string, error) {
	ids := c["dfs.ha.namenodes."+name]
	if ids == "" {
		address := c["dfs.namenode.rpc-address."+name]
		if address == "" {
			return nil, fmt.Errorf("the Hadoop configuration has no dfs.ha.namenodes.%s and no dfs.namenode.rpc-address.%s: %w", name, name, fs.ErrInvalid)
		}
		return []string{address}, nil
	}
	var list []string
	for id := range strings.SplitSeq(ids, ",") {
		property := "dfs.namenode.rpc-address." + name + "." + strings.TrimSpace(id)
		if c[property] == "" {
			return nil, fmt.Errorf("the Hadoop configuration has no %s: %w", property, fs.ErrInvalid)
		}
		list = append(list, c[property])
	}
	return list, nil
}

// library is the configuration as the library reads it, without the addresses, of which it takes all nameservices'
// together and on a malformed one of which it panics.
func (c conf) library() hadoopconf.HadoopConf {
	out := hadoopconf.HadoopConf{}
	for name, value := range c {
		if !strings.Contains(name, "fs.default") && !strings.HasPrefix(name, "dfs.namenode.rpc-address.") {
			out[name] = value
		}
	}
	return out
}

// perm applies fs.permissions.umask-mode, by default 022, as Hadoop's own client does.
func (c conf) perm(mode fs.FileMode) (fs.FileMode, error) {
	text := c["fs.permissions.umask-mode"]
	if text == "" {
		text = "022"
	}
	mask, err := strconv.ParseUint(text, 8, 9)
	if err != nil {
		return 0, errors.Join(fs.ErrInvalid, fmt.Errorf("fs.permissions.umask-mode %q is no octal number", text))
	}
	return mode &^ fs.FileMode(mask), nil
}

// number is a whole number, 0 if the property is not set. Sizes may end in k, m or g.
func (c conf) number(name string) (int64, error) {
	text := strings.ToLower(c[name])
	if text == "" {
		return 0, nil
	}
	shift := 0
	if i := strings.IndexByte("kmg", text[len(text)-1]); i >= 0 {
		shift, text = 10*(i+1), text[:len(text)-1]
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if shift == 0 {
		n, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s %q is no number: %w", name, c[name], fs.ErrInvalid)
	}
	return n << shift, nil
}
