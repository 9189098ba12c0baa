package lineagetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// use is one link: to a run, or to an input.
type use struct {
	run      int    // -1: an input
	artifact string // "" = none named
	input    input
}

// input is a source that is no run.
type input struct {
	name, version, uri string
}

func of(run int, artifact string) use { return use{run: run, artifact: artifact} }

func dataset(name, version string) use {
	return use{run: -1, input: input{name, version, "s3://corp-data/" + name + "/" + version}}
}

func file(uri string) use { return use{run: -1, input: input{uri: uri}} }

// uses lists what run i used, each once, those of one source together.
func (r *Root) uses(i int) []use {
	random := r.random(i, factUses)
	first := i - i%campaign
	made := projectName(r.project(i))
	var list []use
	switch n := i % campaign; {
	case n == prepare:
		version := fmt.Sprint(r.generation(i)/5 + 1)
		list = []use{dataset("events-"+made, version), dataset("labels-"+made, version), file("s3://corp-data/schemas/" + made + ".json")}
	case n <= lastSweep:
		list = []use{of(first, "train"), of(first, "val"), r.start(first)}
	case n == firstTune:
		list = []use{of(pick(random, first, firstSweep, lastSweep), "model"), of(first, "train"), of(first, "val")}
	case n <= lastTune:
		list = []use{of(i-1, "model"), of(first, "train"), of(first, "val")}
	case n <= lastEval:
		list = []use{of(pick(random, first, firstSweep, lastTune), "model"), of(first, "val"), dataset("benchmark", "3")}
	case n <= lastDist:
		list = []use{of(first, "train")}
		for range 4 {
			list = append(list, of(pick(random, first, firstSweep, lastTune), "model"))
		}
	case n <= lastRep:
		for range 4 {
			list = append(list, of(pick(random, first, firstEval, lastEval), "report"))
		}
	default:
		list = []use{of(pick(random, first, firstTune, lastTune), "model"), of(first, "")}
	}
	slices.SortFunc(list, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.input.name, b.input.name), cmp.Compare(a.artifact, b.artifact))
	})
	return slices.Compact(list)
}

// start is what the models of a campaign start from: the model with which the project's campaign before ended.
func (r *Root) start(first int) use {
	if before := first - campaign*r.opts.Projects; before >= 0 {
		return of(before+lastTune, "model")
	}
	return dataset("initial-weights", "1")
}

func pick(random *rand.Rand, first, from, to int) int { return first + from + random.IntN(to-from+1) }

// source is a link as it is recorded.
func (r *Root) source(u use, at time.Time) (tracker.Source, error) {
	if u.run >= 0 {
		return tracker.Source{ID: r.ID(u.run), Artifact: u.artifact, Time: at}, nil
	}
	s, err := tracker.NewInput(tracker.Source{Name: u.input.name, Version: u.input.version, URI: u.input.uri, Time: at}, "/")
	if u.input.name != "" {
		sum := sha256.Sum256([]byte(u.input.uri))
		s.Digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return s, err
}
