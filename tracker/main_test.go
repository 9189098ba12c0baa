package tracker_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// helperVariable makes the test binary one of several processes of a test: its
// value names a function of helpers.
const helperVariable = "HEIRLOOM_TRACKER_TEST_HELPER"

// deathVariable has a helper kill itself at the point of that number, see fate;
// at its end it says how many points it passed.
const deathVariable = "HEIRLOOM_TRACKER_TEST_DEATH"

func helpers() map[string]func(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	all := signalHelpers()
	maps.Copy(all, map[string]func(context.Context, *tracker.FileTracker, []string) error{
		"record": recordAndTell,
		"link":   addLinks,
		"mix":    addMixed,
		"deed":   doDeed,
		"bench":  addTogether,
	})
	return all
}

func TestMain(m *testing.M) {
	name := os.Getenv(helperVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := help(helpers()[name], os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

func help(do func(context.Context, *tracker.FileTracker, []string) error, url string, args []string) error {
	death, isMortal := os.LookupEnv(deathVariable)
	if !isMortal {
		return on(url, nil, do, args)
	}
	var f fate
	if _, err := fmt.Sscan(death, &f.last); err != nil {
		return err
	}
	err := on(url, &store.Options{Intercept: f.intercept}, do, args)
	fmt.Println(f.passed.Load())
	return err
}

// on does it with the tracker at url.
func on(url string, opts *store.Options, do func(context.Context, *tracker.FileTracker, []string) error, args []string) error {
	s, err := store.Open(context.Background(), url, opts)
	if err != nil {
		return err
	}
	return do(context.Background(), tracker.NewFileTracker(s, nil), args)
}

// helper prepares another process on the store at url.
func helper(t testing.TB, name, url string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{url}, args...)...)
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// recordAndTell records facts about one run without end, and tells each on
// stdout once it is kept.
func recordAndTell(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	run, out := tracker.RunID(args[0]), bufio.NewWriter(os.Stdout)
	for i := 0; ; i++ {
		name := strconv.Itoa(i)
		parent := tracker.RunID("parent-" + strconv.Itoa(i%3))
		for kind, write := range map[string]func() error{
			"metadata": func() error { return tr.AddMetadata(ctx, run, object("k"+name, i)) },
			"artifact": func() error { return tr.AddArtifact(ctx, run, tracker.Artifact{Name: "a" + name, Path: "/" + name}) },
			"source":   func() error { return tr.AddSource(ctx, run, tracker.Source{ID: parent, Artifact: "s" + name}) },
		} {
			if err := write(); err != nil {
				return err
			}
			fmt.Fprintln(out, kind, name)
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// addLinks adds links to one source: those of this process, and some that every
// process adds.
func addLinks(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	process, count := args[0], args[1]
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	return linkAll(ctx, tr, process, n)
}

func linkAll(ctx context.Context, tr *tracker.FileTracker, process string, n int) error {
	for i := range n {
		for _, name := range []string{process + "-" + strconv.Itoa(i), "all-" + strconv.Itoa(i)} {
			if err := tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: name}); err != nil {
				return fmt.Errorf("process %s: %w", process, err)
			}
		}
	}
	return nil
}

// told reads acknowledgements: "kind number".
func told(scan *bufio.Scanner) (kind, number string, ok bool) {
	if !scan.Scan() {
		return "", "", false
	}
	kind, number, ok = strings.Cut(scan.Text(), " ")
	return kind, number, ok
}
