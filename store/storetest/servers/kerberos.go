package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const realm = "HEIRLOOM.TEST"

// KDC is a Kerberos key distribution centre, MIT's own.
type KDC struct {
	Realm    string
	ConfFile string // for KRB5_CONFIG

	t   testing.TB
	dir string
	env []string
}

const krb5Conf = `[libdefaults]
default_realm = %[1]s
udp_preference_limit = 1
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
[realms]
%[1]s = {
  kdc = 127.0.0.1:%[2]d
}
[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = 127.0.0.1:%[2]d
[dbmodules]
%[1]s = {
  db_library = db2
  database_name = %[3]s/principal
}
`

const kdcConf = `[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = 127.0.0.1:%[2]d
[realms]
%[1]s = {
  database_name = %[3]s/principal
  key_stash_file = %[3]s/stash
  acl_file = %[3]s/acl
  max_life = 10h
  max_renewable_life = 1d
}
`

// Kerberos starts a KDC with an empty realm.
func Kerberos(t testing.TB) *KDC {
	t.Helper()
	for _, tool := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"} {
		if _, err := exec.LookPath(tool); err != nil {
			Missing(t, err, "apt-get install krb5-kdc krb5-admin-server krb5-user", "kerberos")
		}
	}
	dir, port := t.TempDir(), freePort(t)
	k := &KDC{Realm: realm, ConfFile: filepath.Join(dir, "krb5.conf"), t: t, dir: dir}
	k.env = append(os.Environ(), "KRB5_CONFIG="+k.ConfFile, "KRB5_KDC_PROFILE="+filepath.Join(dir, "kdc.conf"))
	for name, text := range map[string]string{"krb5.conf": krb5Conf, "kdc.conf": kdcConf} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, text, realm, port, dir), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.run("kdb5_util", "-r", realm, "create", "-s", "-P", "heirloom")
	k.serve(port)
	return k
}

func (k *KDC) run(name string, args ...string) {
	k.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = k.env
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func (k *KDC) serve(port int) {
	k.t.Helper()
	cmd := exec.Command("krb5kdc", "-n", "-r", realm)
	cmd.Env = k.env
	cmd.SysProcAttr = dieWithParent()
	p := &process{name: "krb5kdc", exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	stop, err := p.run(cmd)
	if err != nil {
		k.t.Fatalf("start krb5kdc: %v", err)
	}
	k.t.Cleanup(stop)
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(pollInterval) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
			return
		}
	}
	k.t.Fatalf("krb5kdc does not listen\n%s", p.output.String())
}

// Keytab makes principals, with random keys, and gives the file that holds them.
func (k *KDC) Keytab(name string, principals ...string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, name+".keytab")
	for _, p := range principals {
		k.run("kadmin.local", "-r", realm, "-q", "addprinc -randkey "+p)
		k.run("kadmin.local", "-r", realm, "-q", "ktadd -k "+file+" "+p)
	}
	return file
}

// TicketCache gives a file with a ticket of principal, whose key is in keytab.
func (k *KDC) TicketCache(principal, keytab string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, "tickets-"+strings.ReplaceAll(principal, "/", "-"))
	k.Tickets(file, principal, keytab, 10*time.Hour)
	return file
}

// Tickets puts a ticket that is good for so many seconds into a file.
func (k *KDC) Tickets(file, principal, keytab string, life time.Duration) {
	k.t.Helper()
	k.run("kinit", "-l", fmt.Sprintf("%ds", int(life.Seconds())), "-c", "FILE:"+file, "-k", "-t", keytab, principal)
}

// Limit bounds the life of the tickets that a principal gets from now on.
func (k *KDC) Limit(principal string, life time.Duration) {
	k.t.Helper()
	k.run("kadmin.local", "-r", realm, "-q", fmt.Sprintf(`modprinc -maxlife "%d seconds" %s`, int(life.Seconds()), principal))
}

// hadoop is what makes a cluster use this KDC. protection is the least that
// clients and DataNodes agree on: authentication, integrity or privacy.
func (k *KDC) hadoop(protection string) (properties map[string]string, flags []string) {
	service, web := "hdfs/localhost@"+realm, "HTTP/localhost@"+realm
	keytab := k.Keytab("servers", service, web)
	properties = map[string]string{
		"hadoop.security.authentication":                  "kerberos",
		"hadoop.security.authorization":                   "true",
		"hadoop.rpc.protection":                           protection,
		"dfs.data.transfer.protection":                    protection,
		"dfs.block.access.token.enable":                   "true",
		"ignore.secure.ports.for.testing":                 "true",
		"dfs.web.authentication.kerberos.principal":       web,
		"dfs.web.authentication.kerberos.keytab":          keytab,
		"dfs.namenode.kerberos.internal.spnego.principal": web,
		"dfs.namenode.kerberos.principal":                 service,
		"dfs.namenode.keytab.file":                        keytab,
		"dfs.datanode.kerberos.principal":                 service,
		"dfs.datanode.keytab.file":                        keytab,
	}
	return properties, []string{
		"-Djava.security.krb5.conf=" + k.ConfFile,
		"--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED", "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
	}
}
