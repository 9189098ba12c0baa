package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnoreAsGit makes random trees with random ignore files and holds what is
// left out against git itself: by check-ignore for each path, and by ls-files for
// what remains.
func TestIgnoreAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rounds := 20
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 800
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 6))
		root := t.TempDir()
		gitInit(t, root)
		randomTree(t, r, root, "", 3)
		compareWithGit(t, root)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func gitInit(t *testing.T, root string) {
	t.Helper()
	git(t, root, "", "init", "-q", ".")
}

func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || args[0] != "check-ignore") {
		t.Fatalf("git %v: %v %s", args, err, stderr.String())
	}
	return string(out)
}

var names = []string{"a", "b", "ab", "abc", "a.b", "foo", "foo.o", "x y", "[a]", "a]", "A1", "é", "#c", "!d", "a\\b", "-", "z*"}

func randomTree(t *testing.T, r *rand.Rand, root, dir string, depth int) {
	t.Helper()
	full := filepath.Join(root, dir)
	for _, name := range names {
		path := filepath.Join(full, name)
		switch n := r.IntN(10); {
		case n < 3:
			write(t, path, name, 0o644)
		case n < 5 && depth > 0:
			check(t, os.Mkdir(path, 0o755))
			randomTree(t, r, root, filepath.Join(dir, name), depth-1)
		case n == 5:
			check(t, os.Symlink("..", path))
		}
	}
	if depth == 3 || r.IntN(4) == 0 {
		write(t, filepath.Join(full, ".gitignore"), randomRules(r), 0o644)
	}
}

var atoms = []string{"a", "b", "foo", ".o", "*", "**", "?", "/", "/", "/", "[a-c]", "[!a]", "[^b-]", "[]a]", "[[:alpha:]]", "[[:bogus:]]", "[", "\\", "\\a", "\\*", " ", "é", "#", "!", "x y", "**/", "/**", "/**/", "abc", "a.b", "[a", "[\\]]", "-", "[a-", "[[:digit:]b]", "\\ ", "[z-a]", "[[:]"}

func randomRules(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		if r.IntN(4) == 0 {
			b.WriteString("!")
		}
		for range 1 + r.IntN(4) {
			b.WriteString(atoms[r.IntN(len(atoms))])
		}
		if r.IntN(3) == 0 {
			b.WriteString("/")
		}
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n", "  ", "\n\n"}[r.IntN(7)])
	}
	return b.String()
}

func compareWithGit(t *testing.T, root string) {
	t.Helper()
	var paths, kept []string
	tree, err := Scan(t.Context(), root, nil)
	check(t, err)
	left := map[string]bool{}
	for _, e := range tree.Entries {
		left[e.Path] = true
		if e.Kind != Dir {
			kept = append(kept, e.Path)
		}
	}
	check(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	}))
	out := git(t, root, strings.Join(paths, "\x00"), "check-ignore", "-z", "--stdin", "--no-index")
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(out, "\x00") {
		ignored[path] = true
	}
	for _, path := range paths {
		if left[path] == ignored[path] {
			t.Errorf("%q: kept %v, ignored by git %v%s", path, left[path], ignored[path], rulesAbove(root, path))
			return
		}
	}
	want := strings.Split(strings.TrimSuffix(git(t, root, "", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"), "\x00"), "\x00")
	want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
	slices.Sort(want)
	if !slices.Equal(kept, want) {
		t.Errorf("kept %q, git would list %q", kept, want)
	}
}

func rulesAbove(root, path string) string {
	var b strings.Builder
	for dir := filepath.Dir(filepath.Join(root, path)); len(dir) >= len(root); dir = filepath.Dir(dir) {
		if body, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err == nil {
			fmt.Fprintf(&b, "\n%s: %q", dir, body)
		}
	}
	return b.String()
}

// TestRulesAboveRoot scans a directory within a work tree: what git would leave
// out of it is left out.
func TestRulesAboveRoot(t *testing.T) {
	top := t.TempDir()
	gitInit(t, top)
	write(t, filepath.Join(top, ".gitignore"), "*.log\n/sub/deep/secret\n/other\n", 0o644)
	write(t, filepath.Join(top, "sub/.gitignore"), "!keep.log\n", 0o644)
	for _, name := range []string{"x.log", "keep.log", "secret", "other", "ok"} {
		write(t, filepath.Join(top, "sub/deep", name), name, 0o644)
	}
	tree, err := Scan(t.Context(), filepath.Join(top, "sub/deep"), nil)
	check(t, err)
	if got, want := paths(tree), []string{"keep.log", "ok", "other"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestIgnoreNames: the first of the three names that lies in the root counts alone.
func TestIgnoreNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"ours", map[string]string{".heirloomignore": "a", ".torchxignore": "b", ".gitignore": "c"}, []string{"b", "c"}},
		{"torchx", map[string]string{".torchxignore": "b", ".gitignore": "c"}, []string{"a", "c"}},
		{"git", map[string]string{".gitignore": "c"}, []string{"a", "b"}},
		{"none", nil, []string{"a", "b", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"a", "b", "c"} {
				write(t, filepath.Join(dir, name), name, 0o644)
			}
			for name, body := range c.files {
				write(t, filepath.Join(dir, name), body, 0o644)
			}
			tree, err := Scan(t.Context(), dir, nil)
			check(t, err)
			got := slices.DeleteFunc(paths(tree), func(p string) bool { return strings.HasPrefix(p, ".") })
			if !slices.Equal(got, c.want) {
				t.Errorf("kept %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"*.o", "!/a/**/b", "[[:alpha:]-]/", "a\\", "**", "a**/b\r\n#x\n\\!y ", "[a-\\]]"} {
		f.Add(seed, "a/b.o")
	}
	f.Fuzz(func(t *testing.T, body, path string) {
		name := path[strings.LastIndexByte(path, '/')+1:]
		for _, r := range parseRules(body) {
			r.match(path, name, true)
		}
	})
}

func paths(tree *Tree) []string {
	list := make([]string, 0, len(tree.Entries))
	for _, e := range tree.Entries {
		if e.Path != ".gitignore" {
			list = append(list, e.Path)
		}
	}
	return list
}

func write(t *testing.T, path, body string, mode os.FileMode) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(body), 0o600))
	check(t, os.Chmod(path, mode))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
