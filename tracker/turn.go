package tracker

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Many who link one run to one source at the same time would each list all links
// and put the same text files. Who was spoilt by another therefore takes turns: an
// object below heirloom/turns, which saves work and decides nothing. Its holder
// lists the links and brings the files up to date for all. Everybody creates the
// link first and then looks at the turn; the holder gives the turn back first and
// then lists the links once more. So either the others see the turn given back, and
// take it, or the holder sees their link. A holder that dies is found out by the
// same words in the object for turnLease, by the clock of who looks.

const (
	turnsDir    = "turns"
	turnLease   = 15 * time.Second
	turnTenure  = 5 * time.Second // after which a holder lets another go on, if there is one
	turnPause   = 250 * time.Millisecond
	turnFree    = "free "
	turnTries   = 100
	turnsKnown  = 1 << 10 // of how many a tracker remembers what it saw
	crowdMemory = 30 * time.Second
)

// turns is what a tracker saw of them, by their keys.
type turns struct {
	mu   sync.Mutex
	seen map[store.Key]sight // guarded by mu
}

// sight is what was seen of a turn.
type sight struct {
	words   string    // of its holder; "" while it is free
	since   time.Time // first seen with these words
	before  time.Time // last seen with others, zero if never
	looked  time.Time // last
	crowded time.Time // when a writer was last spoilt here, zero if never
}

func (s *turns) update(key store.Key, change func(*sight)) sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) >= turnsKnown {
		s.seen = map[store.Key]sight{}
	}
	now := s.seen[key]
	change(&now)
	s.seen[key] = now
	return now
}

// saw notes the words, and returns all that is known then.
func (s *turns) saw(key store.Key, words string) sight {
	now := time.Now()
	return s.update(key, func(v *sight) {
		if v.words != words || v.since.IsZero() {
			v.words, v.since, v.before = words, now, v.looked
		}
		v.looked = now
	})
}

// isAlive says whether the holder was at it less than a lease ago, and isDead that
// it was not for as long.
func (v sight) isAlive() bool { return !v.before.IsZero() && time.Since(v.before) < turnLease }
func (v sight) isDead() bool  { return time.Since(v.since) >= turnLease }

// turn is one writer's way to have the lines of the links from one source written.
type turn struct {
	t       *FileTracker
	run     RunID
	source  Source
	key     store.Key
	words   string // while it holds the turn
	version string // of the object as last seen, "" where there is none
	renewed time.Time
}

// takeTurns returns when the lines are written, or another who is alive has to.
func (t *FileTracker) takeTurns(ctx context.Context, run RunID, s Source) error {
	h := &turn{t: t, run: run, source: s, key: turnKey(run, s.ID)}
	for {
		v, err := h.look(ctx)
		switch {
		case err != nil:
			return err
		case v.words != "" && v.isAlive():
			t.turns.update(h.key, func(v *sight) { v.crowded = time.Now() })
			return nil
		case v.words == "" || v.isDead():
			held, err := h.take(ctx)
			if err != nil {
				return err
			}
			if held {
				return h.serve(ctx)
			}
		}
		if err := pause(ctx, turnPause); err != nil {
			return err
		}
	}
}

func turnKey(run, source RunID) store.Key {
	return run.dir().Join(heirloomDir, turnsDir, source.Encode())
}

// look reads the turn.
func (h *turn) look(ctx context.Context) (sight, error) {
	r, err := h.t.s.Open(ctx, h.key)
	if errors.Is(err, store.ErrNotExist) {
		h.version = ""
		return h.t.turns.saw(h.key, ""), nil
	}
	if err != nil {
		return sight{}, err
	}
	defer r.Close()
	h.version = r.Object().Version
	words, err := io.ReadAll(io.LimitReader(r, 1<<10))
	if err != nil {
		return sight{}, err
	}
	text := string(words)
	if strings.HasPrefix(text, turnFree) {
		text = ""
	}
	return h.t.turns.saw(h.key, text), nil
}

// take makes the turn ours, if nobody is faster.
func (h *turn) take(ctx context.Context) (bool, error) {
	words := rand.Text()
	var err error
	switch {
	case h.version == "":
		err = h.t.s.Create(ctx, h.key, []byte(words))
	case h.t.s.Capabilities().Replace:
		err = h.t.s.Replace(ctx, h.key, []byte(words), h.version)
	default:
		if err = h.t.s.Delete(ctx, h.key); err == nil || errors.Is(err, store.ErrNotExist) {
			err = h.t.s.Create(ctx, h.key, []byte(words))
		}
	}
	if errors.Is(err, store.ErrExist) || errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	if err == nil {
		h.took(words)
	}
	return err == nil, err
}

func (h *turn) took(words string) {
	now := time.Now()
	h.words, h.renewed = words, now
	h.t.turns.update(h.key, func(v *sight) { v.words, v.since, v.before, v.looked = words, now, now, now })
}

// renew says that we are alive, if it is time to.
func (h *turn) renew(ctx context.Context) error {
	if time.Since(h.renewed) < turnLease/5 {
		return nil
	}
	words := rand.Text()
	if err := h.t.s.Put(ctx, h.key, []byte(words)); err != nil {
		return err
	}
	h.took(words)
	return nil
}

// release gives the turn back, after which nothing renews it. Where writers need not
// be allowed to delete, it says that it is free.
func (h *turn) release(ctx context.Context) error {
	h.words = ""
	h.t.turns.saw(h.key, "")
	if h.t.s.Capabilities().Replace {
		return h.t.s.Put(ctx, h.key, []byte(turnFree+rand.Text()))
	}
	err := h.t.s.Delete(ctx, h.key)
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

// serve writes the lines of all, gives the turn back, and goes on as long as links
// came meanwhile and nobody else has taken the turn.
func (h *turn) serve(ctx context.Context) error {
	begun := time.Now()
	list, err := h.links(ctx)
	for err == nil {
		if err = h.write(ctx, list); err != nil {
			break
		}
		if err := h.release(ctx); err != nil {
			return err
		}
		before := len(list)
		if list, err = h.links(ctx); err != nil {
			return err
		}
		if len(list) == before { // links are never taken away
			return nil
		}
		h.t.turns.update(h.key, func(v *sight) { v.crowded = time.Now() })
		if time.Since(begun) > turnTenure {
			if err := pause(ctx, turnPause); err != nil {
				return err
			}
		}
		held, err := h.again(ctx)
		if !held || err != nil {
			return err
		}
	}
	return errors.Join(err, h.release(context.WithoutCancel(ctx)))
}

// again takes the turn once more; false if somebody else did, who lists the links
// after that.
func (h *turn) again(ctx context.Context) (bool, error) {
	for {
		v, err := h.look(ctx)
		if err != nil || v.words != "" {
			return false, err
		}
		if held, err := h.take(ctx); held || err != nil {
			return held, err
		}
	}
}

// links lists the names of the links.
func (h *turn) links(ctx context.Context) ([]string, error) {
	var list []string
	for name, err := range h.t.linkedNames(ctx, h.run, h.source.ID) {
		if err != nil {
			return nil, err
		}
		if list = append(list, name); len(list)%1000 == 0 && h.words != "" {
			if err := h.renew(ctx); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// write has both files hold the lines. Writers who do not take turns yet may come
// between.
func (h *turn) write(ctx context.Context, lines []string) error {
	return h.t.writeTexts(ctx, h.run, h.source, func(file store.Key) error {
		var err error
		for range turnTries {
			if err = h.renew(ctx); err != nil {
				return err
			}
			err = h.t.s.AddLinesOnce(ctx, file, lines, h.others())
			if !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
		return err
	})
}

// others are asked for where a put may take away what another has just put.
func (h *turn) others() func(context.Context) ([]string, error) {
	if h.t.s.Capabilities().Replace {
		return nil
	}
	return h.links
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d/2 + time.Duration(time.Now().UnixNano())%(d/2))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
