package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
	krb "github.com/jcmturner/gokrb5/v8/client"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// defaultTimeout is Hadoop's own for a client's socket.
const defaultTimeout = 60 * time.Second

// Options of a bucket; nil means all defaults.
type Options struct {
	// Getenv looks up HADOOP_CONF_DIR, HADOOP_HOME, HADOOP_USER_NAME, KRB5_CONFIG and KRB5CCNAME. Nil finds nothing.
	Getenv func(name string) string
	// User acts where there is no Kerberos. "" is HADOOP_USER_NAME, else the user of this process.
	User string
	// TicketCache is a file, by default that of KRB5CCNAME, else /tmp/krb5cc_UID. Setting it asks for Kerberos, as
	// does hadoop.security.authentication.
	TicketCache string
	// Keytab is a file that holds the key of Principal, "name@REALM", the realm by default that of the Kerberos
	// configuration. It wins over TicketCache.
	Keytab, Principal string
	// Conf are properties of Hadoop's configuration that win over its files.
	Conf map[string]string
	// Timeout is how long a connection may take to open, or to make progress. 0 is dfs.client.socket-timeout, by
	// default 60 s.
	Timeout time.Duration
}

// Bucket is a directory in HDFS holding objects. It is safe for concurrent use, by other processes too.
type Bucket struct {
	dirtree.Driver

	root      string   // absolute, clean
	authority string   // host:port or nameservice
	nameNodes []string // host:port
	conf      conf
	opts      Options
	user      string
	timeout   time.Duration
	filePerm  fs.FileMode
	dirPerm   fs.FileMode

	mu       sync.Mutex
	idle     []*client              // guarded by mu
	active   string                 // guarded by mu; the NameNode that answered last
	defaults *defaults              // guarded by mu; nil until asked for
	unsure   map[string]unsureWrite // guarded by mu; by path
	swept    bool                   // guarded by mu
	closed   bool                   // guarded by mu

	loginMu  sync.Mutex
	loggedIn *krb.Client // guarded by loginMu; of the keytab
}

// defaults are what new files are made with.
type defaults struct {
	replication int
	blockSize   int64
	encrypted   bool // what goes to DataNodes
}

// Open returns the bucket of the directory root of the cluster at authority: host, host:port, a nameservice of the
// Hadoop configuration, or "" for that of fs.defaultFS. Nothing is contacted, and the directory appears with the first
// write. opts may be nil. The caller closes the bucket.
func Open(authority, root string, opts *Options) (*Bucket, error) {
	b := &Bucket{root: path.Clean("/" + root), unsure: map[string]unsureWrite{}}
	if opts != nil {
		b.opts = *opts
	}
	if err := b.configure(authority); err != nil {
		return nil, wrap("open", "hdfs://"+authority+b.root, err)
	}
	return b, nil
}

func (b *Bucket) configure(authority string) (err error) {
	if b.opts.Getenv == nil {
		b.opts.Getenv = func(string) string { return "" }
	}
	if b.conf, err = loadConf(b.opts.Getenv, b.opts.Conf); err != nil {
		return err
	}
	if authority == "" {
		if authority, err = b.conf.authority(); err != nil {
			return err
		}
	}
	if strings.Contains(authority, "@") {
		return fmt.Errorf("the URL names a user; HADOOP_USER_NAME does: %w", fs.ErrInvalid)
	}
	b.authority = authority
	if b.nameNodes, err = b.conf.nameNodes(authority); err != nil {
		return err
	}
	if b.user = b.opts.User; b.user == "" {
		b.user = userName(b.opts.Getenv)
	}
	if b.filePerm, err = b.conf.perm(0o666); err != nil {
		return err
	}
	if b.dirPerm, err = b.conf.perm(0o777); err != nil {
		return err
	}
	return b.setTimeout()
}

func (b *Bucket) setTimeout() error {
	b.timeout = b.opts.Timeout
	if b.timeout > 0 {
		return nil
	}
	millis, err := b.conf.number("dfs.client.socket-timeout")
	b.timeout = time.Duration(millis) * time.Millisecond
	if b.timeout == 0 {
		b.timeout = defaultTimeout
	}
	return err
}

func (b *Bucket) getenv(name string) string { return b.opts.Getenv(name) }

// Authority is the host and port, or the nameservice, that the bucket lies on.
func (b *Bucket) Authority() string { return b.authority }

// Dir is the absolute path of the bucket's directory.
func (b *Bucket) Dir() string { return b.root }

// Path is the absolute path of the file that holds key, whether or not it exists.
func (b *Bucket) Path(key string) string { return path.Join(b.root, pathOf(key)) }

// Durable reports whether what was acknowledged survives a loss of power on all DataNodes that hold it. They are asked
// to have it on disk unless the library encrypts what it sends them; then they do so only where the configuration says
// dfs.datanode.synconclose, which a client sees if it shares the servers' files.
func (b *Bucket) Durable() bool { return b.syncs() || b.conf["dfs.datanode.synconclose"] == "true" }

// Close gives up the connections that are not in use. It may be called again.
func (b *Bucket) Close() error {
	b.mu.Lock()
	idle := b.idle
	b.idle, b.closed = nil, true
	b.mu.Unlock()
	for _, c := range idle {
		c.discard()
	}
	b.loginMu.Lock()
	defer b.loginMu.Unlock()
	if b.loggedIn != nil {
		b.loggedIn.Destroy()
		b.loggedIn = nil
	}
	return nil
}

// newFile asks once what new files are made with: dfs.replication and dfs.blocksize of the client's configuration, as
// Hadoop's own client, else the server's.
func (b *Bucket) newFile(ctx context.Context) (defaults, error) {
	b.mu.Lock()
	known := b.defaults
	b.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	replication, err := b.conf.number("dfs.replication")
	if err != nil {
		return defaults{}, err
	}
	blockSize, err := b.conf.number("dfs.blocksize")
	if err != nil {
		return defaults{}, err
	}
	d := defaults{replication: int(replication), blockSize: blockSize}
	err = b.with(ctx, "ask for defaults", "", func(c *client) error {
		if err := c.checkCluster(b.root); err != nil {
			return err
		}
		server, err := c.ServerDefaults()
		d.encrypted = server.EncryptDataTransfer
		if d.replication == 0 {
			d.replication = server.Replication
		}
		if d.blockSize == 0 {
			d.blockSize = server.BlockSize
		}
		return err
	})
	if err != nil {
		return defaults{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.defaults = &d
	return d, nil
}

// checkCluster refuses to write what could not be read.
func (c *client) checkCluster(dir string) error {
	if err := c.checkServer(); err != nil {
		return err
	}
	return c.checkRoot(dir)
}

// checkRoot refuses a directory whose new files the library would spoil. One that does not exist yet inherits from
// the nearest one above it.
func (c *client) checkRoot(dir string) error {
	for {
		info, err := c.Stat(dir)
		if err == nil {
			if err = readable(info); err != nil {
				err = fmt.Errorf("%s is %w", dir, err)
			}
			return err
		}
		if !isAbsent(err) || dir == "/" {
			return c.denied(err, dir, toWrite)
		}
		dir = path.Dir(dir)
	}
}

// readable refuses what is erasure-coded or encrypted: the library would hand out stripes, or ciphertext, as if they
// were the content.
func readable(info fs.FileInfo) error {
	status, ok := info.Sys().(*hdfs.FileStatus)
	switch {
	case !ok:
		return nil
	case status.GetEcPolicy() != nil && status.GetEcPolicy().GetId() != 0:
		return fmt.Errorf("an erasure-coded directory or file (hdfs ec -setPolicy -replicate makes new files of a directory plain): %w", errors.ErrUnsupported)
	case status.GetFileEncryptionInfo() != nil:
		return fmt.Errorf("it lies in an encryption zone of HDFS, whose keys only the key server (KMS) has that heirloom does not speak to; use a directory outside of the zone: %w", errors.ErrUnsupported)
	}
	return nil
}

// blockSize is that of new files once they were asked for.
func (b *Bucket) blockSize() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.defaults == nil {
		return 0
	}
	return b.defaults.blockSize
}
