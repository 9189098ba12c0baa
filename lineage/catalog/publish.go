package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// DefaultAncestryRows is how long the table of ancestry may become before its depth is bounded.
const DefaultAncestryRows = 30_000_000

// Content is what is published.
type Content struct {
	Index    *index.Index // refreshed
	Aliases  []alias.Alias
	Datasets []dataset.Item
}

// Options change how a version is published. Nil and the zero value are the defaults.
type Options struct {
	Writer       string           // who publishes, for people: program and host
	AncestryRows int              // of the table of ancestry; 0 = DefaultAncestryRows
	Policy       Policy           // which older versions go afterwards
	Now          func() time.Time // nil = time.Now
}

func (o *Options) defaults() Options {
	var with Options
	if o != nil {
		with = *o
	}
	if with.AncestryRows <= 0 {
		with.AncestryRows = DefaultAncestryRows
	}
	if with.Now == nil {
		with.Now = time.Now
	}
	return with
}

// Published says what Publish did.
type Published struct {
	Manifest *Manifest
	// Unchanged: the newest version, which is Manifest, holds all this already, and nothing was published.
	Unchanged bool
	Reclaimed []Reclaimed // older versions that went
	StoreTime time.Time   // on the clock that dates the objects; zero where nothing was published
	// Kept is why older versions stay that should have gone, such as that whoever publishes may not delete; nil = none do.
	Kept error
}

// Publish makes the next version of the catalog of a store, unless the newest one says the same. It may be called by
// any number of processes at once: each makes a version of its own, the highest number is the newest. One that stood
// still for so long that others took it for dead is told by an error of kind store.ErrConflict, and one that finds a
// catalog of a newer format by store.ErrUnsupported; neither has changed anything that can be seen.
//
// It makes a request for the listing and each of the tables, manifest, claim and pointers (docs/costs.md), more for
// tables of over 5 MiB.
func Publish(ctx context.Context, s *store.Store, c Content, opts *Options) (*Published, error) {
	p := &publisher{store: s, root: Root(s.Layout()), content: c, opts: opts.defaults()}
	done, err := p.publish(ctx)
	if err != nil {
		return nil, fmt.Errorf("publish catalog: %w", err)
	}
	return done, nil
}

// publisher is one call of Publish.
type publisher struct {
	store    *store.Store
	root     store.Key
	content  Content
	opts     Options
	snapshot *index.Snapshot
	stored   []stored
	number   int64
}

func (p *publisher) publish(ctx context.Context) (done *Published, err error) {
	found, err := list(ctx, p.store)
	if err != nil {
		return nil, err
	}
	newest, err := found.newest(ctx, p.store)
	if err != nil {
		return nil, err
	}
	if p.stored, err = storedDatasets(p.store, p.content.Datasets); err != nil {
		return nil, err
	}
	if p.snapshot, err = p.content.Index.Snapshot(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.snapshot.Close()) }()
	digest, err := p.digest(ctx)
	if err != nil {
		return nil, err
	}
	if newest != nil && newest.Content == digest {
		return &Published{Manifest: newest, Unchanged: true}, p.point(ctx, newest)
	}
	if err := p.claim(ctx, found.last()+1); err != nil {
		return nil, err
	}
	m := &Manifest{Version: format, Number: p.number, Writer: p.opts.Writer, Content: digest}
	if err := p.write(ctx, m); err != nil {
		return nil, err
	}
	if err := p.commit(ctx, m); err != nil {
		return nil, err
	}
	return p.afterwards(ctx, m)
}

// digest tells what is to be published from anything else.
func (p *publisher) digest(ctx context.Context) (string, error) {
	runs, err := p.snapshot.Digest(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %d %s\n", format, p.opts.AncestryRows, runs)
	each := json.NewEncoder(sum)
	for _, a := range p.content.Aliases {
		if err := each.Encode(a); err != nil {
			return "", err
		}
	}
	for _, d := range p.stored {
		if err := each.Encode([]any{d.id, d.item.Commit}); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// claim takes the first number from there on that nobody has.
func (p *publisher) claim(ctx context.Context, from int64) error {
	for p.number = from; ; p.number++ {
		body, err := encode(claim{Version: format, Number: p.number, Time: p.opts.Now().UTC(), Writer: p.opts.Writer})
		if err != nil {
			return err
		}
		err = p.store.Create(ctx, p.root.Join(dirName(p.number), claimName), body)
		if !errors.Is(err, store.ErrExist) {
			return err
		}
	}
}

// write writes all tables and describes them in the manifest.
func (p *publisher) write(ctx context.Context, m *Manifest) error {
	t, err := newTables(p.store, p.root, dirName(p.number))
	if err != nil {
		return err
	}
	defer t.abort()
	if err := p.fill(ctx, t); err != nil {
		return err
	}
	settings, err := p.snapshot.Settings(ctx)
	if err != nil {
		return err
	}
	if m.Tables, err = t.close(ctx); err != nil {
		return err
	}
	m.Index = IndexState{Version: index.EntryVersion, Settings: settings}
	m.AsOf, m.AncestryDepth = index.AsOf(settings), t.depth
	return nil
}

// fill writes the rows.
func (p *publisher) fill(ctx context.Context, t *tables) error {
	runs := map[tracker.RunID]bool{}
	for id, err := range p.snapshot.Runs(ctx) {
		if err != nil {
			return err
		}
		runs[id] = true
	}
	for e, err := range p.snapshot.Entries(ctx) {
		if err == nil {
			err = t.entry(ctx, e, runs)
		}
		if err != nil {
			return err
		}
	}
	if err := p.made(ctx, t); err != nil {
		return err
	}
	rows, err := t.inputs.rows(p.stored)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := row.write(ctx, t.writers[datasetsTable]); err != nil {
			return err
		}
	}
	for _, a := range p.content.Aliases {
		if err := t.alias(ctx, a); err != nil {
			return err
		}
	}
	return t.ancestry(ctx, p.opts.AncestryRows)
}

// made writes the edges to what runs made.
func (p *publisher) made(ctx context.Context, t *tables) error {
	const role = "made"
	known := map[[3]string]bool{}
	for e, err := range p.snapshot.Made(ctx) {
		if err == nil {
			known[[3]string{string(e.From), string(e.To), e.Source.Artifact}] = true
			err = t.edge(ctx, string(e.From), string(e.To), e.Source.Artifact, role)
		}
		if err != nil {
			return err
		}
	}
	for _, d := range p.stored {
		if d.run == "" || known[[3]string{d.run, d.id, d.item.Commit.Maker.Artifact}] {
			continue
		}
		if err := t.edge(ctx, d.run, d.id, d.item.Commit.Maker.Artifact, role); err != nil {
			return err
		}
	}
	return nil
}

// commit makes the version exist.
func (p *publisher) commit(ctx context.Context, m *Manifest) error {
	m.Published = p.opts.Now().UTC()
	body, err := encode(m)
	if err != nil {
		return err
	}
	key := p.root.Join(dirName(p.number), manifestName)
	err = p.store.Create(ctx, key, body)
	if errors.Is(err, store.ErrExist) {
		return &store.Error{Op: "commit", Key: string(key), Kind: store.ErrConflict,
			Err: errors.New("this took so long that another process took it for dead and reclaimed the version; publish again")}
	}
	return err
}

// afterwards moves the pointers on and reclaims what is due. One listing tells both whether another publisher is ahead
// and what time it is by the store's own clock.
func (p *publisher) afterwards(ctx context.Context, m *Manifest) (*Published, error) {
	done := &Published{Manifest: m}
	if err := p.point(ctx, m); err != nil {
		return nil, err
	}
	found, err := list(ctx, p.store)
	if err != nil {
		return nil, err
	}
	if found.last() > m.Number { // whose pointers may have come before ours
		ahead, err := found.newest(ctx, p.store)
		if err == nil && ahead != nil {
			err = p.point(ctx, ahead)
		}
		if err != nil {
			return nil, err
		}
	}
	done.StoreTime = found.time()
	done.Reclaimed, done.Kept = p.opts.Policy.reclaim(ctx, p.store, found, found.time(), p.opts.Now)
	return done, nil
}
