package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// The descriptors that a supervisor finds open.
const (
	readyFD = 3 // says once, as a line, that the app starts or why it does not
	aliveFD = 4 // stays open while the supervisor lives
)

// Supervise is what the command of Options.Supervise does with its last argument, the
// directory of a launch, and its standard input: it carries out the plan that is
// written there. It returns when the app has ended, and has told who submitted it what went
// wrong before that.
func (s *Scheduler) Supervise(ctx context.Context, dir string, plan io.Reader) error {
	ready, alive, err := inherited()
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	defer func() { _ = ready.Close() }()
	l := launch{dir}
	p, err := readPlan(plan)
	if err != nil {
		say(ready, err)
		return errors.Join(err, l.remove())
	}
	_, err = s.carry(ctx, l, p, Foreground{OnStart: func(runner.Started) {
		say(ready, nil)
		_ = ready.Close()
	}})
	if err != nil {
		say(ready, err) // heard unless the app had started
	}
	return err
}

func readPlan(r io.Reader) (*runner.Plan, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return runner.ReadPlan(body)
}

func say(to io.Writer, err error) {
	var word readiness
	if err != nil {
		word = readiness{Error: store.Redact(err.Error()), Kind: kindName(err)}
	}
	body, _ := json.Marshal(word)       // holds nothing that could fail
	_, _ = to.Write(append(body, '\n')) // nobody may be listening any more
}

// inherited takes the descriptors over, so that nothing we start has them.
func inherited() (ready, alive *os.File, err error) {
	for _, fd := range []int{readyFD, aliveFD} {
		if err := closeOnExec(fd); err != nil {
			return nil, nil, fmt.Errorf("descriptor %d is not open: this command is not for people: %w", fd, store.ErrInvalid)
		}
	}
	return os.NewFile(readyFD, "ready"), os.NewFile(aliveFD, "alive"), nil
}

func sortedNames(m map[string]error) []string { return slices.Sorted(maps.Keys(m)) }
