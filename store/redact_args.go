package store

import (
	"path"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// RedactArgs takes secrets out of a command line, argument by argument, also where the name of the secret, or the program that
// asks for it, stands before. It returns a new slice of the same length.
func RedactArgs(argv []string) []string {
	out := make([]string, len(argv))
	line := commandLine{argv: argv, start: len(argv)}
	for i := 0; i < len(argv); i++ {
		line.look(i)
		if kept, ok := line.holds(i); ok {
			out[i] = argv[i][:kept] + RedactedMark
			continue
		}
		out[i] = redactArg(argv[i])
		if i+1 < len(argv) && line.announces(i) {
			i++
			out[i] = RedactedMark
		}
	}
	return out
}

// redactArg takes all that stands behind the name of a secret, whatever it is made of.
func redactArg(arg string) string {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || !assignable().MatchString(name) {
		return Redact(arg)
	}
	if isSecret(strings.TrimLeft(name, "-"), value) {
		return name + "=" + RedactedMark
	}
	return Redact(name + "=" + redactArg(value))
}

var (
	assignable = pattern.Lazy(`^-{0,2}[A-Za-z_][A-Za-z0-9_.-]*$`)
	// A pair of AWS's keys often comes without names.
	awsKeyID  = pattern.Lazy(`^(AKIA|ASIA)[0-9A-Z]{16}$`)
	awsSecret = pattern.Lazy(`^[A-Za-z0-9/+=]{40}$`)
)

// program is one that takes secrets in ways that do not say so.
type program struct {
	names []string
	verb  string   // the first argument, "" = any
	flags []string // the next argument is a secret
	stuck []string // what is stuck to the flag is one
	all   bool     // each argument behind the verb that is no flag is one
}

func programs() []program {
	return []program{
		{names: []string{"curl"}, flags: []string{"-u", "--user", "--proxy-user", "-U"}, stuck: []string{"-u", "-U"}},
		{names: []string{"http", "https"}, flags: []string{"-a"}},
		{names: []string{"docker", "podman", "az"}, verb: "login", flags: []string{"-p"}, stuck: []string{"-p"}},
		{names: []string{"redis-cli"}, flags: []string{"-a"}},
		{names: []string{"mongo", "mongosh", "mongodump", "mongorestore"}, flags: []string{"-p"}},
		{names: []string{"ldapsearch", "ldapmodify"}, flags: []string{"-w"}},
		{names: []string{"sshpass"}, flags: []string{"-p"}, stuck: []string{"-p"}},
		{names: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"}, stuck: []string{"-p"}},
		{names: []string{"wandb", "vault"}, verb: "login", all: true},
	}
}

// commandLine is one with what is known of the program that takes the arguments, which another may have started, as env
// or sudo.
type commandLine struct {
	argv    []string
	start   int     // of the program
	program program // the zero value if it is none of those known
}

// look goes on to argument i.
func (c *commandLine) look(i int) {
	name := path.Base(c.argv[i])
	for _, p := range programs() {
		if slices.Contains(p.names, name) && (p.verb == "" || i+1 < len(c.argv) && c.argv[i+1] == p.verb) {
			c.start, c.program = i, p
		}
	}
}

// holds says whether argument i is a secret by its place, and how many bytes stand before it.
func (c commandLine) holds(i int) (kept int, ok bool) {
	arg := c.argv[i]
	if i <= c.start {
		return 0, false
	}
	if c.program.all && i > c.start+1 && !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "://") {
		return 0, true
	}
	return 2, len(arg) > 2 && slices.Contains(c.program.stuck, arg[:2])
}

// announces says whether the argument after i is a secret.
func (c commandLine) announces(i int) bool {
	arg, next := c.argv[i], c.argv[i+1]
	switch {
	case awsKeyID().MatchString(arg) && awsSecret().MatchString(next):
		return true
	case !assignable().MatchString(arg):
		return false
	case i > c.start && slices.Contains(c.program.flags, arg):
		return true
	case !strings.HasPrefix(arg, "-"):
		return c.sets(i) && nameSecrecy(arg) == strongSecret
	}
	return takesSecret(arg, next) && !isPlainValue(strings.TrimLeft(arg, "-"), next)
}

// sets says whether argument i may be a name and the next its value, as in "aws configure set NAME VALUE".
func (c commandLine) sets(i int) bool {
	return slices.ContainsFunc(c.argv[:i], func(arg string) bool { return arg == "set" || arg == "create" })
}
