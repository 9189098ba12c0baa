package benchstore

import (
	"os"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// command is one process to measure.
type command struct {
	args    []string
	environ []string // beside that of this process
}

// measure runs the command to its end.
func (c command) measure(t *testing.T) measured {
	environ := append(os.Environ(), c.environ...)
	environ = slices.DeleteFunc(environ, func(v string) bool { return v == "AWS_PROFILE=" }) // aws-cli takes it for a name
	u, err := usage.Measure(t.Context(), c.args, environ)
	if u.Said != "" {
		t.Logf("%s says: %s", c.args[0], u.Said)
	}
	return measured{wall: u.Wall, cpu: u.CPU, peak: u.Peak, err: err}
}
