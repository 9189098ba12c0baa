//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// passable lets everybody through the directories above path that the tests made.
func passable(path string) error {
	for dir := filepath.Dir(path); strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// nobody CODE PROGRAM ARG...: as exits, but as a user who owns nothing where the tests run as root, since root may
// write everywhere. The output is in the files nobody.out and nobody.err.
func nobody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: nobody CODE PROGRAM ARG...")
	}
	as(ts, "nobody", 65534, 65534, args)
}

// member USER GROUP CODE PROGRAM ARG...: the same as the user of a number in the group of a number, with a umask that
// keeps everything from others. It needs root. The output is in member.out and member.err.
func member(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: member USER GROUP CODE PROGRAM ARG...")
	}
	uid, err := strconv.ParseUint(args[0], 10, 32)
	ts.Check(err)
	gid, err := strconv.ParseUint(args[1], 10, 32)
	ts.Check(err)
	program, err := exec.LookPath(args[3])
	ts.Check(err)
	ts.Check(passable(program))
	as(ts, "member", uint32(uid), uint32(gid), append([]string{args[2], "sh", "-c", `umask 077; exec "$@"`, "sh", program}, args[4:]...))
}

// as runs a program as another user, if we are root, and keeps its output in files of that name.
func as(ts *testscript.TestScript, name string, uid, gid uint32, args []string) {
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	ts.Check(passable(path))
	ts.Check(passable(ts.MkAbs("x")))
	var stdout, stderr bytes.Buffer
	c := exec.Command(path, args[2:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &stdout, &stderr
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "GORACE=" + os.Getenv("GORACE")}
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
	got := codeOf(ts, c.Run())
	ts.Check(os.WriteFile(ts.MkAbs(name+".out"), stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(name+".err"), stderr.Bytes(), 0o600))
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s", got, args[0], stderr.String())
	}
}
