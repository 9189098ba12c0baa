package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/user"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	krb "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/krberror"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// userName is who acts where there is no Kerberos: HADOOP_USER_NAME, else the user of this process.
func userName(getenv func(string) string) string {
	if name := getenv("HADOOP_USER_NAME"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return getenv("USER")
}

// clientOptions are those of a new client, with credentials that are still good.
func (b *Bucket) clientOptions(ctx context.Context) (hdfs.ClientOptions, error) {
	o := hdfs.ClientOptionsFromConf(b.conf.library())
	o.Addresses, o.User = b.addresses(), b.user
	if err := b.checkProtection(o.DataTransferProtection); err != nil {
		return o, err
	}
	if !b.kerberos() {
		o.KerberosClient = nil
		return o, nil
	}
	if o.KerberosServicePrincipleName == "" {
		return o, fmt.Errorf("the Hadoop configuration has no dfs.namenode.kerberos.principal, although Kerberos is asked for: %w", fs.ErrInvalid)
	}
	client, err := b.login()
	if err != nil {
		return o, err
	}
	o.KerberosClient = client
	return o, b.ticket(ctx, client, o.KerberosServicePrincipleName)
}

// lapsed tells that the credentials of options have ended since they were found good, which the library reports as a
// NameNode that cannot be reached.
func (b *Bucket) lapsed(ctx context.Context, options hdfs.ClientOptions) error {
	if options.KerberosClient == nil {
		return nil
	}
	if err := b.ticket(ctx, options.KerberosClient, options.KerberosServicePrincipleName); errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func (b *Bucket) kerberos() bool {
	return strings.EqualFold(b.conf["hadoop.security.authentication"], "kerberos") || b.opts.Keytab != "" || b.opts.TicketCache != ""
}

// login gives the client of the keytab, which keeps itself alive, or one of the ticket cache as it is now.
func (b *Bucket) login() (*krb.Client, error) {
	if b.opts.Keytab != "" {
		return b.keytabLogin()
	}
	cfg, err := b.kerberosConfig()
	if err != nil {
		return nil, err
	}
	path, err := b.ticketCache()
	if err != nil {
		return nil, err
	}
	cache, err := credentials.LoadCCache(path)
	if err != nil {
		return nil, opaque("read the Kerberos ticket cache "+path+" (kinit makes one)", fs.ErrPermission, err)
	}
	client, err := krb.NewFromCCache(cache, cfg, krb.DisablePAFXFAST(true))
	if err != nil {
		return nil, opaque("use the Kerberos ticket cache "+path+" (kinit renews it)", fs.ErrPermission, err)
	}
	return client, nil
}

func (b *Bucket) keytabLogin() (*krb.Client, error) {
	b.loginMu.Lock()
	defer b.loginMu.Unlock()
	if b.loggedIn != nil {
		return b.loggedIn, nil
	}
	cfg, err := b.kerberosConfig()
	if err != nil {
		return nil, err
	}
	table, err := keytab.Load(b.opts.Keytab)
	if err != nil {
		return nil, opaque("read the keytab "+b.opts.Keytab, fs.ErrPermission, err)
	}
	name, realm, _ := strings.Cut(b.opts.Principal, "@")
	if name == "" {
		return nil, fmt.Errorf("a keytab needs the principal whose key it holds: %w", fs.ErrInvalid)
	}
	if realm == "" {
		realm = cfg.LibDefaults.DefaultRealm
	}
	client := krb.NewWithKeytab(name, realm, table, cfg, krb.DisablePAFXFAST(true))
	if err := client.Login(); err != nil {
		return nil, kerberosError("log in as "+b.opts.Principal, err)
	}
	b.loggedIn = client
	return client, nil
}

func (b *Bucket) kerberosConfig() (*config.Config, error) {
	path := b.getenv("KRB5_CONFIG")
	if path == "" {
		path = "/etc/krb5.conf"
	}
	cfg, err := config.Load(path)
	if err != nil {
		return nil, opaque("read the Kerberos configuration "+path, fs.ErrInvalid, err)
	}
	return cfg, nil
}

func (b *Bucket) ticketCache() (string, error) {
	path := b.opts.TicketCache
	if path == "" {
		path = b.getenv("KRB5CCNAME")
	}
	kind, rest, found := strings.Cut(path, ":")
	switch {
	case path == "":
		u, err := user.Current()
		if err != nil {
			return "", err
		}
		return "/tmp/krb5cc_" + u.Uid, nil
	case found && kind == "FILE":
		return rest, nil
	case found && !strings.Contains(kind, "/"):
		return "", fmt.Errorf("a Kerberos ticket cache of type %s cannot be read, only a file: %w", kind, errors.ErrUnsupported)
	}
	return path, nil
}

// ticket asks for the ticket that the library is going to need, because its own errors do not tell a clock that is
// wrong or a principal that is unknown from a network that is down.
func (b *Bucket) ticket(ctx context.Context, client *krb.Client, service string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var errs []error
	for _, address := range b.addresses() {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		_, _, err = client.GetServiceTicket(strings.Replace(service, "/_HOST", "/"+host, 1))
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	what := "get a Kerberos ticket"
	if b.opts.Keytab == "" {
		what += " (kinit renews the ticket cache)"
	}
	return kerberosError(what, errors.Join(errs...))
}

func kerberosError(what string, err error) error {
	kind := fs.ErrPermission
	if e, ok := errors.AsType[krberror.Krberror](err); ok && e.RootCause == krberror.NetworkingError {
		kind = dirtree.ErrUnavailable
	}
	return fmt.Errorf("%s: %w: %w", what, kind, err)
}
