package runner

import (
	"os"
	"os/user"
	"strings"
)

func hostname() string {
	name, _ := os.Hostname()
	return name
}

// UserName is who we are, as runs record it: by the environment's own word first, which is what the
// person chose to be called.
func UserName(environ []string) string {
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if text := lookup(environ, name); text != "" {
			return text
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// bootID names this boot of the machine and this space of process ids, without
// which a process id says little; "" where the system does not tell.
func bootID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}
