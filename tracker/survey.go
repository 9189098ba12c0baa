package tracker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"iter"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Survey is what a listing tells of a run: none of its records has been read.
type Survey struct {
	ID RunID
	// Print changes when an object of the run is added, replaced or removed, but for
	// those that follow from what other runs record: TorchX's mirror of who used it,
	// and whose turn it is to write that.
	Print Print
	// Newest is when the youngest of those that count was written, by the backend's
	// clock; zero where it tells no times.
	Newest time.Time

	objects *listing
}

// Print is a digest of the names, sizes and versions of a run's objects.
type Print [16]byte

// Surveys yields every run of the root, in bytewise order of the encoded ids, from
// one listing, which makes one request for each 1,000 objects. Runs that were
// deleted are passed over; what is no run too, and handed to Options.Warn. An error is
// the last thing yielded.
func (t *FileTracker) Surveys(ctx context.Context) iter.Seq2[*Survey, error] {
	return t.SurveysBetween(ctx, "", "")
}

// SurveysBetween is Surveys for the runs whose directories, which are named by
// RunID.Encode, come after the name after, and not after last; "" is no bound. Where
// the store can begin a listing anywhere it costs what it yields, and part of a
// request that goes too far.
func (t *FileTracker) SurveysBetween(ctx context.Context, after, last string) iter.Seq2[*Survey, error] {
	if after != "" {
		after += dirEnd
	}
	return t.surveys(ctx, "", after, last)
}

// dirEnd follows a slash: what begins with the name of a directory and this comes after
// all that lies in it, and before the directories that sort behind it.
const dirEnd = "0"

// Survey lists one run: one request for each 1,000 of its objects. A run of which
// nothing is kept, or that was deleted, is store.ErrNotExist.
func (t *FileTracker) Survey(ctx context.Context, run RunID) (*Survey, error) {
	if err := t.mayRead(ctx, run); err != nil {
		return nil, readError(run, err)
	}
	for s, err := range t.surveys(ctx, run.Encode()+"/", "", "") {
		return s, err
	}
	return nil, &store.Error{Op: "read run", Key: string(run), Kind: store.ErrNotExist}
}

func (t *FileTracker) surveys(ctx context.Context, prefix, after, last string) iter.Seq2[*Survey, error] {
	return func(yield func(*Survey, error) bool) {
		if err := t.readable(ctx); err != nil {
			yield(nil, fmt.Errorf("list runs: %w", err))
			return
		}
		var s surveyor
		for o, err := range t.s.ListAfter(ctx, prefix, after) {
			if err != nil {
				yield(nil, fmt.Errorf("list runs: %w", err))
				return
			}
			if last != "" && string(o.Key) > last+dirEnd {
				break
			}
			if done := s.see(t, o); done != nil && !yield(done, nil) {
				return
			}
		}
		if done := s.leave(); done != nil {
			yield(done, nil)
		}
	}
}

// surveyor gathers the objects of one run after the other.
type surveyor struct {
	dir     string
	current *Survey // nil in what is no run's directory
	sum     hash.Hash
}

// see takes the next object of a listing. It returns the run before it, if the object is
// the first of another directory.
func (s *surveyor) see(t *FileTracker, o store.Object) *Survey {
	dir, _, nested := strings.Cut(string(o.Key), "/")
	if !nested {
		return nil // a file in the root disturbs nobody
	}
	var done *Survey
	if dir != s.dir {
		done = s.leave()
		s.enter(t, dir)
	}
	if s.current != nil {
		s.current.objects.add(o)
		if follows(o.Key[len(dir)+1:]) {
			return done
		}
		fmt.Fprintf(s.sum, "%s\x00%d\x00%s\x00%d\n", o.Key, o.Size, o.Version, o.Modified.UnixNano())
		if o.Modified.After(s.current.Newest) {
			s.current.Newest = o.Modified
		}
	}
	return done
}

// follows says whether an object of a run, by its key there, tells nothing of its own.
func follows(key store.Key) bool {
	return strings.HasPrefix(string(key), descendantsDir+"/") || strings.HasPrefix(string(key), heirloomDir+"/"+turnsDir+"/")
}

func (s *surveyor) enter(t *FileTracker, dir string) {
	s.dir = dir
	id, err := DecodeRunID(dir)
	if err != nil {
		t.opts.Warn(foreignDir(dir))
		return
	}
	s.current, s.sum = &Survey{ID: id, objects: newListing(id)}, sha256.New()
}

// leave ends the run that is being gathered, if there is one that was not deleted.
func (s *surveyor) leave() *Survey {
	done := s.current
	s.current = nil
	if done == nil || done.objects.deleted {
		return nil
	}
	copy(done.Print[:], s.sum.Sum(nil))
	return done
}

// ReadSurveyed reads the records of runs that were surveyed, with bounded parallel
// requests, one for each record. Children are those in the mirror. A run that was
// deleted meanwhile comes without what was deleted, and with warnings.
func (t *FileTracker) ReadSurveyed(ctx context.Context, surveys []*Survey) ([]*Run, error) {
	var keys []store.Key
	for _, s := range surveys {
		keys = append(keys, s.objects.allKeys()...)
	}
	b, err := t.read(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	runs := make([]*Run, len(surveys))
	for i, s := range surveys {
		runs[i] = s.objects.run(b, t.opts.Now())
	}
	return runs, nil
}
