package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// torchrunScript is torch's own torchrun. The one of Debian 12, torch 1.13 under Python 3.11, takes none of its numbers of
// streams, not even by default, because flags there list neither nothing nor all of them; that alone is mended.
const torchrunScript = `import sys

from torch.distributed.elastic.multiprocessing import Std
from torch.distributed.run import main

if Std.from_str("3") is None:

    def from_str(cls, text):
        if ":" not in text:
            return Std(int(text))
        return {int(k): Std(int(v)) for k, v in (m.split(":") for m in text.split(","))}

    Std.from_str = classmethod(from_str)

sys.exit(main())
`

// Torchrun gives a directory for PATH in which torchrun is that of a torch installed on this machine: of the Python that
// HEIRLOOM_TEST_TORCH names, of the first one of PATH, or of the system's. PyPI has torch for Linux with CUDA alone, some
// gigabytes, so that no environment is made for it. In HEIRLOOM_MUST_RUN it goes by "torch".
func Torchrun(t testing.TB) string {
	t.Helper()
	for _, python := range []string{os.Getenv("HEIRLOOM_TEST_TORCH"), "python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(python)
		if err != nil || exec.Command(path, "-c", "import torch.distributed.run").Run() != nil {
			continue
		}
		dir := t.TempDir()
		script := filepath.Join(dir, "torchrun.py")
		err = os.WriteFile(script, []byte(torchrunScript), 0o600)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "torchrun"), fmt.Appendf(nil, "#!/bin/sh\nexec '%s' '%s' \"$@\"\n", path, script), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	Missing(t, errors.New("no Python here has torch"), "apt-get install --no-install-recommends python3-torch", "torch")
	return ""
}
