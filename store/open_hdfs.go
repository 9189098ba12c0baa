package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/hdfsblob"
)

// HDFSOptions are those of Horovod's HDFSStore; what the URL says wins over them.
type HDFSOptions struct {
	// Host and Port are for a URL that names no host. "" and 0 are those of
	// fs.defaultFS in the configuration that HADOOP_CONF_DIR names. Host may be a
	// nameservice, without a port.
	Host string
	Port int
	// User acts where there is no Kerberos. "" is HADOOP_USER_NAME, else the user
	// of this process.
	User string
	// TicketCache is a file of Kerberos tickets. "" is that of KRB5CCNAME, where
	// the configuration asks for Kerberos.
	TicketCache string
	// Keytab is a file with the key of Principal, used instead of tickets.
	Keytab, Principal string
	// ExtraConf are properties that win over those of Hadoop's files.
	ExtraConf map[string]string
}

// hdfsParameters are what the query of an hdfs URL may say, by name.
func hdfsParameters(o *HDFSOptions) map[string]*string {
	return map[string]*string{"user": &o.User, "kerb_ticket": &o.TicketCache, "keytab": &o.Keytab, "principal": &o.Principal}
}

// openHDFS reads host:port/path?parameters, /path, or nameservice/path. The path
// stands for itself, without percent escapes.
func openHDFS(_ context.Context, rest string, opts Options) (*Store, error) {
	rest, raw, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	path = strings.Trim(path, "/")
	if path != "" {
		if err := checkKey(path); err != nil {
			return nil, invalid(err)
		}
	}
	if strings.Contains(path, ":") {
		return nil, invalid(errors.New("the path of an hdfs URL holds a colon, which HDFS does not take"))
	}
	o := opts.HDFS
	query, err := o.set(raw)
	if err != nil {
		return nil, invalid(err)
	}
	if host == "" {
		host = o.host()
	}
	s := &Store{core: &core{opts: opts}}
	b, err := hdfsblob.Open(host, path, &hdfsblob.Options{
		Getenv: s.environ, User: o.User, TicketCache: o.TicketCache, Keytab: o.Keytab, Principal: o.Principal, Conf: o.ExtraConf,
	})
	if err != nil {
		return nil, treeError(err)
	}
	root := b.Authority() + strings.TrimSuffix(b.Dir(), "/")
	return newStore(place{scheme: "hdfs", root: root, query: queryString(query)}, "", &hdfsBackend{bucket: b, opts: o}, opts), nil
}

// set takes over the parameters of a URL.
func (o *HDFSOptions) set(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fmt.Errorf("the parameters of the URL: %w", err)
	}
	known := hdfsParameters(o)
	for name := range query {
		field, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("unknown parameter %q of an hdfs URL; known are keytab, kerb_ticket, principal, user", name)
		}
		*field = query.Get(name)
	}
	return query, nil
}

func (o *HDFSOptions) host() string {
	if o.Host == "" || o.Port == 0 {
		return o.Host
	}
	return net.JoinHostPort(o.Host, strconv.Itoa(o.Port))
}

// fsspec: Python's client passes over the host of a path. The port goes with the
// host, since TorchX hands on texts and that of a port must be a number.
func (b *hdfsBackend) fsspec() []Setting {
	list := []Setting{{"host", b.bucket.Authority()}}
	for _, s := range []Setting{{"user", b.opts.User}, {"kerb_ticket", b.opts.TicketCache}} {
		if s.Value != "" {
			list = append(list, s)
		}
	}
	return list
}
