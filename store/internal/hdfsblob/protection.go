package hdfsblob

import (
	"errors"
	"fmt"
	"strings"

	"github.com/colinmarc/hdfs/v2"
)

// The library drops bytes of what it reads wherever messages are signed or encrypted one by one, as under integrity and
// under privacy with SASL's own ciphers. With AES it reads a plain stream. A server uses AES only if its configuration names it,
// which a client sees if it shares the servers' files.
const (
	cipherSuites = "dfs.encrypt.data.transfer.cipher.suites"
	aesSuite     = "AES/CTR/NoPadding"
)

// checkProtection refuses a level of protection of what is exchanged with DataNodes under which the library garbles it.
func (b *Bucket) checkProtection(level string) error {
	property := "dfs.data.transfer.protection=" + level
	switch level {
	case hdfs.DataTransferProtectionIntegrity:
		return fmt.Errorf("%s is set, under which the HDFS client garbles what it reads; set it to authentication, or to privacy with %s=%s, in the hdfs-site.xml of the servers and of this client: %w", property, cipherSuites, aesSuite, errors.ErrUnsupported)
	case hdfs.DataTransferProtectionPrivacy:
		if strings.Contains(strings.ToLower(b.conf[cipherSuites]), strings.ToLower(aesSuite)) {
			return nil
		}
		if !strings.Contains(strings.ToLower(b.conf["dfs.data.transfer.protection"]), level) {
			property = "dfs.encrypt.data.transfer=true"
		}
		return fmt.Errorf("%s is set without AES, and so the HDFS client garbles what it reads; set %s=%s in the hdfs-site.xml of the servers and of this client: %w", property, cipherSuites, aesSuite, errors.ErrUnsupported)
	}
	return nil
}

// checkServer does the same for what the NameNode says where the client's configuration says nothing.
func (c *client) checkServer() error {
	if hdfs.ClientOptionsFromConf(c.bucket.conf.library()).DataTransferProtection != "" {
		return nil // checked when the client was made
	}
	d, err := c.ServerDefaults() // which the library asks for anyhow, once for each client
	if err != nil || !d.EncryptDataTransfer {
		return err
	}
	return c.bucket.checkProtection(hdfs.DataTransferProtectionPrivacy)
}
