package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Python gives the interpreter of a virtual environment that holds these
// packages from PyPI, pinned as in "torchx==0.7.0". It is made once for each set
// of requirements. In HEIRLOOM_MUST_RUN it goes by "python" and by the names of
// the packages.
func Python(t testing.TB, requirements ...string) string {
	t.Helper()
	names := []string{"python"}
	for _, r := range requirements {
		name, _, _ := strings.Cut(r, "==")
		names = append(names, strings.TrimSpace(name))
	}
	cache, err := cacheDir()
	if err != nil {
		Missing(t, err, "export HOME=/some/directory", names...)
	}
	dir := filepath.Join(cache, "python", environmentName(requirements))
	if err := once(dir, func() error { return makeEnvironment(dir, requirements) }); err != nil {
		Missing(t, err, "python3 -m venv DIR && DIR/bin/pip install "+strings.Join(requirements, " "), names...)
	}
	return filepath.Join(dir, "bin", "python")
}

func environmentName(requirements []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(requirements)), "\n")))
	return hex.EncodeToString(sum[:8])
}

// makeEnvironment builds it where it stays, since its scripts hold its own path,
// and takes it away again if that fails. Until it is complete another name
// leads to it than the one that others look for.
func makeEnvironment(dir string, requirements []string) error {
	home := dir + ".env"
	if err := os.RemoveAll(home); err != nil { // of one that was killed
		return err
	}
	commands := [][]string{{"python3", "-m", "venv", home}}
	if len(requirements) > 0 {
		install := []string{filepath.Join(home, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"}
		commands = append(commands, append(install, requirements...))
	}
	for _, c := range commands {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
		}
	}
	return os.Symlink(filepath.Base(home), dir)
}
