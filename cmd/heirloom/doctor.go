package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/doctor"
	"github.com/heirloom-ml/heirloom/store"
)

// doctorAttempts is how often a request is tried: who asks wants to hear of the trouble, not wait it out.
const doctorAttempts = 2

func newDoctor(a *app) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   "doctor [URL]",
		Short: "find out what is wrong with the settings, the store or this machine",
		Long: `Look at the settings, the credentials, the way to the store, what one may do there,
the clocks, and whether the store keeps its word: bytes come back as they went,
listings are complete, and of several writers exactly one wins. Then at this machine.

It writes below heirloom/doctor/ in the store, under a random name, and removes all of
it at the end. The exit code is that of the first check that failed.`,
		Example: `  heirloom doctor
  heirloom doctor s3://bucket/prefix
  heirloom doctor -o json`,
		Args: atMostURL,
		RunE: func(c *cobra.Command, args []string) error { return a.runDoctor(c, args, limit) },
	}
	limit = time.Minute
	ageFlag(c.Flags(), &limit, "timeout", "give up after this `TIME`")
	return c
}

// atMostURL is for commands that take the configured store where none is named.
func atMostURL(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return takes("URL")(c, args)
}

func (a *app) runDoctor(c *cobra.Command, args []string, limit time.Duration) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	var flags map[string]string
	if len(args) > 0 {
		if args[0] == "" || a.flags.store != "" || a.flags.tracker != "" {
			return usagef(c.CommandPath(), "name one store, by URL or by --store")
		}
		flags = map[string]string{config.Store: args[0], config.Tracker: ""}
	}
	ctx, cancel := context.WithTimeout(c.Context(), limit)
	defer cancel()
	printer := &findings{a: a, format: format}
	a.examine(ctx, flags, printer)
	if err := c.Context().Err(); err != nil {
		return err
	}
	return printer.finish()
}

// examine hands every finding to the printer: first of the settings, then of what they lead to.
func (a *app) examine(ctx context.Context, flags map[string]string, printer *findings) {
	add := printer.add
	c, err := a.settings(ctx, flags)
	if err != nil {
		add(doctor.Finding{Check: "configuration", Status: doctor.Failed, Message: err.Error(), Advice: "correct it; heirloom config explain shows what is in force", Err: err})
		return
	}
	add(a.configuration(c, len(flags) > 0))
	p, err := a.patient(ctx, c)
	if err != nil {
		add(doctor.Finding{Check: "store", Status: doctor.Failed, Message: err.Error(), Advice: advice(err), Err: err})
		return
	}
	printer.promises = newPromises(p.Store.Capabilities())
	add(doctor.Finding{Check: "store", Status: doctor.OK, Message: store.RedactURL(p.Store.URL())})
	for f := range doctor.Examine(ctx, p) {
		add(f)
	}
}

// configuration tells where each setting that is not a default came from, and of variables that are nobody's.
// The store may have been named by the argument.
func (a *app) configuration(c *config.Config, named bool) doctor.Finding {
	f := doctor.Finding{Check: "configuration", Status: doctor.OK}
	var origins []string
	for _, v := range c.Values() {
		origin := v.Origin.String()
		if named && v.Key == config.Store {
			origin = "the command line"
		}
		if v.Text != "" && (v.Origin.Level != config.LevelDefault || v.Key == config.Store) {
			origins = append(origins, v.Key+" from "+origin)
		}
	}
	f.Message = strings.Join(origins, ", ")
	for _, entry := range a.environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "HEIRLOOM_") && !config.IsVariable(name) {
			f.Status, f.Message = doctor.Warning, fmt.Sprintf("the variable %s is none that heirloom knows", name)
			f.Advice = "correct its name, or unset it; heirloom config explain lists the settings"
		}
	}
	return f
}

// patient opens the store and the tracker, and says how to open the store again.
func (a *app) patient(ctx context.Context, c *config.Config) (doctor.Subject, error) {
	url := c.Get(config.Store).Text
	root := c.Get(config.Tracker).Text
	if url == "" {
		url = beside(root)
	}
	connect := func(ctx context.Context) (*store.Store, error) { return a.brisk(ctx, url, c) }
	s, err := connect(ctx)
	if err != nil {
		return doctor.Subject{}, err
	}
	a.keep(s)
	rooted := s.Sub(s.Layout().Tracker())
	if root != "" {
		if rooted, err = a.brisk(ctx, root, c); err != nil {
			return doctor.Subject{}, err
		}
		a.keep(rooted)
	}
	if s.Scheme() == "mem" { // two of them share nothing
		connect = nil
	}
	return doctor.Subject{
		Store: s, Connect: connect, Format: a.newTracker(rooted, nil).Format, Dirs: a.ownDirs(),
		Disk: doctor.DiskAt, LookPath: exec.LookPath, Now: time.Now,
	}, nil
}

// brisk opens a store that does not try for long.
func (a *app) brisk(ctx context.Context, url string, c *config.Config) (*store.Store, error) {
	options := a.storeOptions(ctx, c, url)
	options.MaxAttempts = doctorAttempts
	return store.Open(ctx, url, options)
}

// ownDirs are where heirloom and its jobs write beside the store.
func (a *app) ownDirs() []doctor.Dir {
	home := a.getenv("HOME")
	dirs := []doctor.Dir{{Use: "scratch", Path: os.TempDir()}}
	for _, d := range []struct{ use, variable, below string }{
		{"cache", "XDG_CACHE_HOME", ".cache"},
		{"state", "XDG_STATE_HOME", filepath.Join(".local", "state")},
	} {
		if path := cmp.Or(a.getenv(d.variable), joined(home, d.below)); path != "" {
			dirs = append(dirs, doctor.Dir{Use: d.use, Path: filepath.Join(path, "heirloom")})
		}
	}
	return dirs
}

func joined(home, below string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, below)
}

// verdict is the error of an examination that found something broken: the first of it decides the exit code.
func verdict(failures []doctor.Finding, all int) error {
	if len(failures) == 0 {
		return nil
	}
	first := failures[0]
	text := fmt.Sprintf("%d of %d checks failed, first %q: %s", len(failures), all, first.Check, first.Message)
	return &advised{err: &diagnosis{text: text, kind: first.Err}, advice: first.Advice}
}

// diagnosis says its own sentence and has the kind of what was found.
type diagnosis struct {
	text string
	kind error
}

func (d *diagnosis) Error() string { return d.text }
func (d *diagnosis) Unwrap() error { return d.kind }

// failures are the findings of checks that failed.
func failures(list []doctor.Finding) []doctor.Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f doctor.Finding) bool { return f.Status != doctor.Failed })
}
