package lineagetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Options say which root is wanted.
type Options struct {
	Runs int    // how many there may be
	Seed uint64 // equal seeds make equal roots; a larger one begins with the same runs as a smaller one, where Projects agree
	// Projects is among how many projects the campaigns alternate; 0 = as many as give each about fifty campaigns.
	// A project's campaigns build on each other, so this bounds how far back a lineage reaches.
	Projects int
}

// Root is a tracker root that exists as a rule: any of its runs can be had alone. It is safe for concurrent use.
//
// Runs come in campaigns of 100, each of a project. A campaign prepares data from a few shared datasets; 64 runs sweep
// over parameters, starting from the model with which the project's campaign before ended; a chain of 8 fine-tunes one
// of them; others evaluate, distil and report; and the last is written by TorchX alone. A run has about 3 links, 14
// metadata and 1 artifact.
type Root struct {
	opts Options
	// The children of run n are children[childAt[n]:childAt[n+1]], rising.
	children []int32
	childAt  []int32
}

// The place of a run in its campaign.
const (
	campaign = 100 // runs

	prepare    = 0
	firstSweep = 1
	lastSweep  = 64
	firstTune  = 65
	lastTune   = 72
	firstEval  = 73
	lastEval   = 92
	firstDist  = 93
	lastDist   = 96
	firstRep   = 97
	lastRep    = 98
	notebook   = 99 // by TorchX
)

// campaignsEach is how many campaigns a project has, where the number of projects is not given.
const campaignsEach = 50

// New makes a root of runs 0 to opts.Runs-1, in the order in which they started.
func New(opts Options) *Root {
	if opts.Projects == 0 {
		opts.Projects = max(2, (opts.Runs+campaign*campaignsEach-1)/(campaign*campaignsEach))
	}
	r := &Root{opts: opts, childAt: make([]int32, opts.Runs+1)}
	r.eachLink(func(parent, _ int32) { r.childAt[parent+1]++ })
	for i := range opts.Runs {
		r.childAt[i+1] += r.childAt[i]
	}
	r.children = make([]int32, r.childAt[opts.Runs])
	next := make([]int32, opts.Runs)
	copy(next, r.childAt)
	r.eachLink(func(parent, child int32) {
		r.children[next[parent]] = child
		next[parent]++
	})
	return r
}

// eachLink calls do once for every two runs of which one used the other, by rising child.
func (r *Root) eachLink(do func(parent, child int32)) {
	for i := range r.opts.Runs {
		last := -1
		for _, u := range r.uses(i) { // uses of one parent stand together
			if u.run >= 0 && u.run != last {
				do(int32(u.run), int32(i))
				last = u.run
			}
		}
	}
}

// Len is the number of runs.
func (r *Root) Len() int { return r.opts.Runs }

// Links is the number of links of all runs.
func (r *Root) Links() int {
	n := 0
	for i := range r.opts.Runs {
		n += len(r.uses(i))
	}
	return n
}

// Children are the runs that used run i, rising.
func (r *Root) Children(i int) []int32 { return r.children[r.childAt[i]:r.childAt[i+1]] }

// With returns the run whose number of descendants comes nearest to n, of those that made the last model of a campaign
// of the first project.
func (r *Root) With(n int) (run, descendants int) {
	for i := lastTune; i < r.opts.Runs; i += campaign * r.opts.Projects {
		if found := r.descendants(i); run == 0 || distance(found, n) < distance(descendants, n) {
			run, descendants = i, found
		}
	}
	return run, descendants
}

func distance(a, b int) int { return max(a-b, b-a) }

func (r *Root) descendants(i int) int {
	seen := map[int32]bool{}
	todo := []int32{int32(i)}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, child := range r.Children(int(n)) {
			if !seen[child] {
				seen[child] = true
				todo = append(todo, child)
			}
		}
	}
	return len(seen)
}

// project is that of a run.
func (r *Root) project(i int) int { return i / campaign % r.opts.Projects }

// generation counts the campaigns of the run's project before its own.
func (r *Root) generation(i int) int { return i / campaign / r.opts.Projects }

// random is the source of one kind of fact about a run.
func (r *Root) random(i int, fact uint64) *rand.Rand {
	return rand.New(rand.NewPCG(r.opts.Seed<<8|fact, uint64(i)))
}

// Kinds of facts, each with random numbers of its own, so that one can be had without the others.
const (
	factID = iota
	factUses
	factRecord
)

const idLetters = "bcdfghjklmnpqrstvwxz012345679"

// ID is the id of run i, of the form that heirloom gives.
func (r *Root) ID(i int) tracker.RunID {
	random := r.random(i, factID)
	suffix := make([]byte, 13)
	for n := range suffix {
		suffix[n] = idLetters[random.IntN(len(idLetters))]
	}
	suffix[0] = idLetters[random.IntN(20)] // no digit
	return tracker.RunID("slurm://torchx/" + r.name(i) + "-" + string(suffix))
}

func (r *Root) name(i int) string {
	return fmt.Sprintf("%s-%s", stage(i), projectName(r.project(i)))
}

// stage says what a run of a campaign does.
func stage(i int) string {
	switch n := i % campaign; {
	case n == prepare:
		return "prepare"
	case n <= lastSweep:
		return "train"
	case n <= lastTune:
		return "finetune"
	case n <= lastEval:
		return "evaluate"
	case n <= lastDist:
		return "distil"
	case n <= lastRep:
		return "report"
	}
	return "explore"
}

func projectName(p int) string {
	return fmt.Sprintf("%s-%d", []string{"clicks", "speech", "vision", "fraud", "search"}[p%5], p/5+1)
}
