package doctor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Subject is what is examined.
type Subject struct {
	Store *store.Store
	// Connect opens the same store on a connection of its own; the examination closes it. Nil stands for a store that
	// has but one.
	Connect func(ctx context.Context) (*store.Store, error)
	// Format reads the version of the tracker's root.
	Format func(ctx context.Context) (tracker.Format, error)
	// Dirs are where heirloom and its jobs write on this machine.
	Dirs []Dir
	// Disk tells of the file system below a local directory.
	Disk func(path string) (Disk, error)
	// LookPath finds a program, as exec.LookPath does.
	LookPath func(name string) (string, error)
	Now      func() time.Time
}

// Dir is a directory with its use: "cache", "scratch".
type Dir struct{ Use, Path string }

// examination is one run of the checks.
type examination struct {
	Subject
	scratch *Scratch
	broken  map[string]bool // checks that failed, or were skipped because another failed
	probe   store.Object    // what was written as a try
	first   store.Key       // some object that was there, "" if none was seen
}

// check is one row of the table.
type check struct {
	name  string
	needs []string // checks without which it makes no sense
	run   func(*examination, context.Context) Finding
}

func checks() []check {
	return []check{
		{"credentials", nil, (*examination).credentials},
		{"endpoint", []string{"credentials"}, (*examination).endpoint},
		{"list", []string{"endpoint"}, (*examination).list},
		{"write", []string{"endpoint"}, (*examination).write},
		{"read", []string{"endpoint"}, (*examination).read},
		{"clock", []string{"write"}, (*examination).clock},
		{"bytes", []string{"write", "read"}, (*examination).sameBytes},
		{"listing", []string{"write", "list"}, (*examination).listsAll},
		{"create race", []string{"write", "read"}, (*examination).createRace},
		{"replace race", []string{"write", "read"}, (*examination).replaceRace},
		{"delete", []string{"write"}, (*examination).remove},
		{"leftover uploads", []string{"list"}, (*examination).leftovers},
		{"capabilities", nil, (*examination).capabilities},
		{"file system", nil, (*examination).fileSystem},
		{"tracker", []string{"read"}, (*examination).trackerFormat},
		{"directories", nil, (*examination).directories},
		{"tools", nil, (*examination).tools},
	}
}

// Examine runs the checks in order and yields what each finds. It writes below heirloom/doctor/ in the store, and
// removes all of it at the end, even where ctx has ended; the last finding says if it could not.
func Examine(ctx context.Context, s Subject) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		e := &examination{Subject: s, scratch: NewScratch(s.Store, "doctor"), broken: map[string]bool{}}
		left := !e.each(ctx, yield)
		if e.probe.Key == "" {
			return // nothing was written
		}
		if err := e.scratch.Clear(ctx); err != nil && !left && ctx.Err() == nil {
			yield(named("clean up", failed(kindOf(err), err.Error(), "remove what is left there")))
		}
	}
}

// each yields the checks; it reports whether all of them were asked for.
func (e *examination) each(ctx context.Context, yield func(Finding) bool) bool {
	for _, c := range checks() {
		var f Finding
		if at := slices.IndexFunc(c.needs, func(name string) bool { return e.broken[name] }); at >= 0 {
			f = skipped(fmt.Sprintf("not tried without %q", c.needs[at]))
			e.broken[c.name] = true
		} else {
			f = c.run(e, ctx)
			e.broken[c.name] = f.Status == Failed
		}
		if errors.Is(ctx.Err(), context.Canceled) || !yield(named(c.name, f)) {
			return false
		}
	}
	return true
}

func named(check string, f Finding) Finding {
	f.Check = check
	return f
}
