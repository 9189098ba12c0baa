package tracker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// asideName holds what was moved out of the way, below a run's own directory of
// ours, or below the store for the rest.
const asideName = "aside"

// errYoung is why a thing is left where it is.
var errYoung = errors.New("it is too young: a writer may be about to complete it")

// repair carries out the remedies. One that cannot be does not stop the others.
func (f *fsck) repair(ctx context.Context) error {
	for i := range f.report.Findings {
		finding := &f.report.Findings[i]
		if finding.fix == nil {
			continue
		}
		err := finding.fix(ctx)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			finding.Left = err.Error()
			continue
		}
		finding.Repaired = true
	}
	return nil
}

// remedy is what Repair does about a finding; the zero value is nothing.
type remedy struct {
	text string
	do   func(context.Context) error
}

// remedyOf is the remedy for what a reader passed over.
func (f *fsck) remedyOf(l *listing, w Warning, b bodies) remedy {
	move := func(ctx context.Context) error { return f.asideOld(ctx, l.id, w.Key) }
	switch w.Rule {
	case RuleRecordForeign:
		return remedy{"move it aside, and record anew what it says if it can be read", func(ctx context.Context) error {
			return f.adopt(ctx, l.id, w.Key)
		}}
	case RuleLinkDamaged:
		return remedy{"move it aside and write the link anew", func(ctx context.Context) error {
			return f.relink(ctx, l.id, w.Key)
		}}
	case RuleRecordDamaged, RuleRecordNested, RuleSourceForeign, RuleDescendantForeign, RuleLinkForeign, RuleAttemptForeign:
		return remedy{"move it aside", move}
	}
	return remedy{}
}

// adding appends lines to one of TorchX's text files.
func (f *fsck) adding(key store.Key, lines []string) func(context.Context) error {
	return func(ctx context.Context) error {
		return f.t.s.AddLines(ctx, key, lines, nil)
	}
}

// adopt records anew what a file of a foreign name says, so that nothing that
// TorchX could read is lost, and moves it aside.
func (f *fsck) adopt(ctx context.Context, run RunID, key store.Key) error {
	obj, err := f.t.s.Stat(ctx, key)
	if err != nil || f.young(obj.Modified) {
		return errors.Join(err, f.ifYoung(obj))
	}
	body, err := f.t.s.Get(ctx, key)
	if err != nil {
		return err
	}
	category := key.Dir().Base()
	_, err = parseMetadata(body)
	if category == artifactsDir {
		_, err = parseArtifact(body)
	}
	if err == nil {
		name := fmt.Sprintf("%019d-%s", obj.Modified.UnixNano(), store.DigestOf(body)[:16]) // the same when repeated
		if err := f.t.s.Put(ctx, run.dir().Join(category, name), body); err != nil {
			return err
		}
	}
	return f.aside(ctx, run, key)
}

// relink keeps what is left of a damaged link and writes one that can be read.
func (f *fsck) relink(ctx context.Context, run RunID, key store.Key) error {
	obj, err := f.t.s.Stat(ctx, key)
	if err != nil {
		return err
	}
	if err := f.keep(ctx, run, key); err != nil {
		return err
	}
	body, err := Source{Time: obj.Modified}.link()
	if err != nil {
		return err
	}
	return f.t.s.Put(ctx, key, body)
}

// rewriteText keeps a torn text file and puts one with whole lines in its place.
func (f *fsck) rewriteText(ctx context.Context, run RunID, key store.Key, written map[string]bool) error {
	obj, err := f.t.s.Stat(ctx, key)
	if err != nil || f.young(obj.Modified) {
		return errors.Join(err, f.ifYoung(obj))
	}
	body, err := f.t.s.Get(ctx, key)
	if err != nil {
		return err
	}
	tail := tornTail(body, written)
	if tail == "" {
		return nil // completed meanwhile
	}
	if err := f.keep(ctx, run, key); err != nil {
		return err
	}
	if err := f.t.s.Put(ctx, key, body[:len(body)-len(tail)]); err != nil {
		return err
	}
	return f.adding(key, slices.Sorted(maps.Keys(written)))(ctx)
}

// asideOld is aside for what no writer is about to complete.
func (f *fsck) asideOld(ctx context.Context, run RunID, key store.Key) error {
	obj, err := f.t.s.Stat(ctx, key)
	if err != nil || f.young(obj.Modified) {
		return errors.Join(err, f.ifYoung(obj))
	}
	return f.aside(ctx, run, key)
}

func (f *fsck) ifYoung(obj store.Object) error {
	if f.young(obj.Modified) {
		return errYoung
	}
	return nil
}

// aside moves one object: it is copied, then removed.
func (f *fsck) aside(ctx context.Context, run RunID, key store.Key) error {
	if err := f.keep(ctx, run, key); err != nil {
		return err
	}
	return f.t.s.Delete(ctx, key)
}

// keep copies one object to where it disturbs nobody.
func (f *fsck) keep(ctx context.Context, run RunID, key store.Key) error {
	s, to := f.t.s, run.dir().Join(heirloomDir, asideName, f.stamp, strings.TrimPrefix(string(key), run.Encode()+"/"))
	if run == "" {
		s, to = f.opts.Aside, store.Key(asideName).Join(f.stamp, string(key))
	}
	if s == nil {
		return fmt.Errorf("there is no place outside of the root to move it to: %w", store.ErrUnsupported)
	}
	r, err := f.t.s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = s.PutFrom(ctx, to, io.Reader(r), r.Object().Size)
	return err
}

// asideDir moves all that is below a directory of the root, and the directory
// goes with it.
func (f *fsck) asideDir(ctx context.Context, dir store.Key) error {
	var keys []store.Key
	for obj, err := range f.t.s.List(ctx, string(dir)+"/") {
		if err != nil {
			return err
		}
		if f.young(obj.Modified) {
			return errYoung
		}
		keys = append(keys, obj.Key)
	}
	if len(keys) == 0 {
		return f.removeEmpty(ctx, dir)
	}
	for _, key := range keys {
		if err := f.aside(ctx, "", key); err != nil {
			return err
		}
	}
	return nil
}
