package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store/internal/intact"
	"github.com/heirloom-ml/heirloom/store/internal/settle"
)

// syncPass is one look through the directory.
type syncPass struct {
	*Sync
	vouched bool          // the writer itself asks
	final   bool          // the writer has ended
	long    chan struct{} // holds one for each long file on its way
	items   []*syncItem   // sorted by path
	objects map[Key]Object
	units   map[string]*syncUnit
	commits map[string][]*syncItem // marks that commit, by directory; nil before they are asked for
	others  map[string]manifest    // of other replicas, once read

	lock   sync.Mutex // guards what follows, while files are sent
	report SyncReport
	errs   []error
	stop   bool // the store does not answer, or takes no more
}

func (p *syncPass) run(ctx context.Context) error {
	items, scanErr := p.scan()
	if scanErr != nil && len(items) == 0 {
		return scanErr
	}
	p.items = items
	p.errs = append(p.errs, scanErr)
	if err := p.list(ctx); err != nil {
		return errors.Join(scanErr, err)
	}
	p.findMarks()
	p.recall()
	p.expect()
	units := p.cut()
	if p.opts.Delete && scanErr == nil {
		p.deleteShadowed(ctx)
	}
	sending, cancel := withReserve(ctx)
	for _, u := range units {
		p.sendUnit(sending, u)
	}
	p.sendRank(sending, p.items, rankPointer)
	if p.opts.Delete && scanErr == nil {
		p.deleteGone(sending)
	}
	p.account(sending)
	cancel()
	p.errs = append(p.errs, p.writeManifest(ctx, nil))
	p.listed = p.listed || p.report.Uploaded > 0
	return errors.Join(p.errs...)
}

// withReserve ends a little before ctx does, so that what was sent can be told.
func withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-min(endReserve, time.Until(end)/10)))
}

// list asks what the store holds, and reads our manifest where it is not the one
// that we remember.
func (p *syncPass) list(ctx context.Context) error {
	p.objects = map[Key]Object{}
	if p.opts.Fresh && !p.listed {
		return nil
	}
	for obj, err := range p.store.List(ctx, slashed(string(p.prefix))) {
		if err != nil {
			return err
		}
		p.objects[obj.Key] = obj
	}
	p.listed = true
	return p.readManifest(ctx)
}

// findMarks tells which files commit others.
func (p *syncPass) findMarks() {
	for _, item := range p.items {
		item.mark = markOf(item.path, func() string { return p.shortText(item) })
	}
}

// shortText reads a file that may be a pointer, "" if it cannot be one.
func (p *syncPass) shortText(item *syncItem) string {
	if item.id.Size > maxPointer {
		return ""
	}
	f, _, err := settle.Open(p.local(item.path))
	if err != nil {
		return ""
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxPointer))
	if err != nil {
		return ""
	}
	return string(body)
}

// recall takes from the journal, and from the manifest, what need not be read
// again, and sees which of the rest can be read now.
func (p *syncPass) recall() {
	vouched := p.vouchers()
	for _, item := range p.items {
		rec, ok := p.journal.Get(item.path)
		if ok && rec.Identity == item.id && !rec.Young {
			item.digest, item.crc = Digest(rec.SHA256), rec.CRC32C
		}
		if item.digest != "" && p.holds(item) {
			item.sent = true
			continue
		}
		if !p.final {
			p.judgeItem(item, vouched)
		}
	}
}

func (p *syncPass) judgeItem(item *syncItem, vouched map[string]int64) {
	f, id, err := settle.Open(p.local(item.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.wait(item, "it went while it was looked at")
		return
	case err != nil:
		p.fail(item, p.wrapFile(item.path, err))
		return
	}
	defer f.Close()
	if id != item.id {
		item.id, item.digest = id, ""
	}
	whole := p.vouched || item.newest() <= vouched[path.Dir(item.path)] || p.ready(item.path) || p.committed(item)
	if reason := p.judge.Busy(item.path, f, id, whole); reason != "" {
		p.wait(item, reason)
	}
}

// vouchers gives for each directory until when the caller's patterns vouch for
// its files.
func (p *syncPass) vouchers() map[string]int64 {
	until := map[string]int64{}
	for _, item := range p.items {
		if dir := path.Dir(item.path); p.ready(item.path) {
			until[dir] = max(until[dir], item.newest())
		}
	}
	return until
}

// holds says whether the store has the bytes of an item, as far as it was noted.
func (p *syncPass) holds(item *syncItem) bool {
	obj, there := p.objects[p.key(item.path)]
	if !there || obj.Size != item.id.Size {
		return false
	}
	rec, ok := p.journal.Get(item.path)
	if !ok || !rec.Sent || rec.Version != obj.Version || Digest(rec.SHA256) != item.digest {
		return false
	}
	p.noteSent(item, obj.Version) // it may look otherwise now
	return true
}

// wait leaves an item for a later pass.
func (p *syncPass) wait(item *syncItem, reason string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !item.busy {
		item.busy = true
		p.unexpect(item)
		p.report.Waiting = append(p.report.Waiting, SyncFile{Path: item.path, Reason: reason})
	}
}

// fail is wait for what is an error.
func (p *syncPass) fail(item *syncItem, err error) {
	p.wait(item, err.Error())
	p.lock.Lock()
	defer p.lock.Unlock()
	p.errs = append(p.errs, err)
	p.stop = p.stop || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNoSpace)
}

func (p *syncPass) stopped() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.stop
}

// each calls do for all items that want something, several at once.
func (p *syncPass) each(ctx context.Context, items []*syncItem, do func(context.Context, *syncItem)) {
	var group errgroup.Group
	group.SetLimit(p.parallel())
	for _, item := range items {
		if item.sent || item.busy {
			continue
		}
		group.Go(func() error {
			if ctx.Err() == nil && !p.stopped() {
				do(ctx, item)
			}
			return nil
		})
	}
	_ = group.Wait() // do reports what fails
}

// account says of what was not reached that it waits, and counts the rest.
func (p *syncPass) account(sending context.Context) {
	late := false
	for _, item := range p.items {
		switch {
		case item.sent:
			p.report.Unchanged++
		case !item.busy && p.stop:
			p.wait(item, "the store takes nothing now")
		case !item.busy:
			p.wait(item, "there was no time left")
			late = true
		}
	}
	p.report.Unchanged -= p.report.Uploaded
	if late {
		p.errs = append(p.errs, p.store.wrap("sync", string(p.prefix), context.Cause(sending)))
	}
}

// syncUnit is a checkpoint with what commits it, or all that belongs to none.
type syncUnit struct {
	name  string // of the mark's directory, or of a file that is a checkpoint by itself, "" for the rest
	items []*syncItem
	marks []*syncItem // that commit it
	time  int64       // of the newest mark, or of the file
}

// cut divides the items into units: the newest checkpoint first, then what
// belongs to none, then older checkpoints.
func (p *syncPass) cut() []*syncUnit {
	p.units = map[string]*syncUnit{}
	for _, item := range p.items {
		name := p.unitOf(item)
		u := p.units[name]
		if u == nil {
			u = &syncUnit{name: name}
			p.units[name] = u
		}
		u.items = append(u.items, item)
		commits := item.mark != nil && item.mark.commits
		if commits {
			u.marks = append(u.marks, item)
		}
		if commits || name == item.path {
			u.time = max(u.time, item.newest())
		}
	}
	var list []*syncUnit
	for _, u := range p.units {
		list = append(list, u)
	}
	rest := func(u *syncUnit) int64 { // "" ranks behind the newest alone
		if u.name == "" {
			return 0
		}
		return u.time
	}
	slices.SortFunc(list, func(a, b *syncUnit) int {
		return cmp.Or(cmp.Compare(rest(b), rest(a)), cmp.Compare(a.name, b.name))
	})
	if n := len(list); n > 2 && list[n-1].name == "" {
		list = slices.Insert(list[:n-1:n-1], 1, list[n-1])
	}
	return list
}

// unitOf names the unit of an item: the directory of the mark of highest rank
// that commits it, else of the outermost.
func (p *syncPass) unitOf(item *syncItem) string {
	name, rank := "", 0
	for _, m := range p.marksOver(item) {
		if m.mark.rank > rank {
			name, rank = path.Dir(m.path)+"/", m.mark.rank
		}
	}
	if rank == 0 && item.mark == nil && checkpointFile(item.path) && (!p.final || p.looksWhole(item)) {
		return item.path
	}
	return name
}

// looksWhole keeps what a killed job left half written from going first.
func (p *syncPass) looksWhole(item *syncItem) bool {
	f, id, err := settle.Open(p.local(item.path))
	if err != nil {
		return false
	}
	defer f.Close()
	return !settle.Temporary(item.path) && intact.Check(item.path, f, id.Size) == nil
}

// checkpointFile tells the files that frameworks write whole checkpoints to.
func checkpointFile(file string) bool {
	return slices.Contains([]string{".pt", ".pth", ".ckpt", ".h5", ".keras", ".safetensors"}, path.Ext(file))
}
