package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Connection tells how a store reaches its far side, and as whom.
type Connection struct {
	Endpoint string    // URL of the far side, "" for a local directory and for the provider's own
	Identity string    // in words, where the credentials were found; "" where none are needed
	Expires  time.Time // of the credentials; zero if they do not, or do not say
}

// connected is a backend with a far side.
type connected interface {
	connection(ctx context.Context) (Connection, error)
}

// Connection finds the credentials, which may take requests of its own, but none
// to the store. The error is ErrPermission if there are none.
func (s *Store) Connection(ctx context.Context) (Connection, error) {
	b, ok := s.back.(connected)
	if !ok {
		return Connection{}, nil
	}
	c, err := b.connection(ctx)
	return c, s.wrap("connect", "", err)
}

func (b *s3Backend) connection(ctx context.Context) (Connection, error) {
	client, err := b.connect(ctx)
	if err != nil {
		return Connection{}, err
	}
	c := Connection{Endpoint: b.endpoint(), Identity: "nobody, as the URL asks for"}
	if b.opts.anonymous {
		return c, nil
	}
	found, err := client.Options().Credentials.Retrieve(ctx)
	if err != nil {
		return c, credentialError(ctx, err)
	}
	c.Identity = awsSource(found)
	if found.CanExpire {
		c.Expires = found.Expires
	}
	return c, nil
}

// awsSource puts the SDK's name of a provider into words.
func awsSource(c aws.Credentials) string {
	name, detail, _ := strings.Cut(c.Source, ": ")
	for _, known := range [][2]string{
		{"StaticCredentials", "the keys that were handed over"},
		{"EnvConfigCredentials", "the AWS_ variables of the environment"},
		{"SharedConfigCredentials", "a profile in " + detail},
		{"AssumeRoleProvider", "a role that was assumed"},
		{"WebIdentityCredentials", "a web identity token"},
		{"SSOProvider", "AWS single sign-on"},
		{"ProcessProvider", "a credential process"},
		{"EC2RoleProvider", "the role of this machine"},
		{"CredentialsEndpointProvider", "the container's credential endpoint"},
	} {
		if name == known[0] {
			return known[1]
		}
	}
	return c.Source
}

func (b *hdfsBackend) connection(context.Context) (Connection, error) {
	c := Connection{Endpoint: "hdfs://" + b.bucket.Authority()}
	switch {
	case b.opts.Keytab != "":
		c.Identity = fmt.Sprintf("the keytab %s, as %s", b.opts.Keytab, b.opts.Principal)
	case b.opts.TicketCache != "":
		c.Identity = "the Kerberos tickets in " + b.opts.TicketCache
	case b.opts.User != "":
		c.Identity = "the user " + b.opts.User
	default:
		c.Identity = "the user of this process, or Kerberos where Hadoop's configuration asks for it"
	}
	return c, nil
}
