package checkpoint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

// at is a whole checkpoint of a step with a value of the metric.
func at(step int64, value float64) checkpoint.Candidate {
	return checkpoint.Candidate{Value: value, Checkpoint: &checkpoint.Checkpoint{
		Path: store.Key(fmt.Sprintf("step-%d", step)), Step: step, Modified: time.Unix(step, 0),
	}}
}

func TestDecide(t *testing.T) {
	nan := math.NaN()
	five := func() []checkpoint.Candidate {
		return []checkpoint.Candidate{at(9, 0.5), at(10, 0.1), at(20, nan), at(30, 0.2), at(100, 0.9)}
	}
	for _, tt := range []struct {
		name   string
		policy checkpoint.Policy
		change func(list []checkpoint.Candidate)
		want   []int64 // steps that are kept
	}{
		{"no rule", checkpoint.Policy{}, nil, []int64{9, 10, 20, 30, 100}},
		{"last, by number", checkpoint.Policy{Last: 2}, nil, []int64{30, 100}},
		{"every", checkpoint.Policy{Every: 10}, nil, []int64{10, 20, 30, 100}},
		{"newest always", checkpoint.Policy{Every: 7}, nil, []int64{100}},
		{"best, least", checkpoint.Policy{Best: 2}, nil, []int64{10, 30, 100}},
		{"best, most", checkpoint.Policy{Best: 2, Max: true}, nil, []int64{9, 100}},
		{"NaN is never best", checkpoint.Policy{Best: 9}, nil, []int64{9, 10, 30, 100}},
		{"union", checkpoint.Policy{Last: 1, Every: 20, Best: 1}, nil, []int64{10, 20, 100}},
		{"pinned", checkpoint.Policy{Last: 1}, func(l []checkpoint.Candidate) { l[0].Pinned = true }, []int64{9, 100}},
		{"held", checkpoint.Policy{Last: 1}, func(l []checkpoint.Candidate) { l[1].Held = "used" }, []int64{10, 100}},
		{"the newest is not whole", checkpoint.Policy{Last: 1}, func(l []checkpoint.Candidate) { l[4].Reason = "cut" }, []int64{30, 100}},
		{"not whole, to go", checkpoint.Policy{Last: 1, Incomplete: true}, func(l []checkpoint.Candidate) { l[0].Reason = "cut" }, []int64{100}},
		{"not whole, newer", checkpoint.Policy{Last: 1, Incomplete: true}, func(l []checkpoint.Candidate) { l[4].Reason = "cut" }, []int64{30, 100}},
		{"not whole, none is", checkpoint.Policy{Incomplete: true}, func(l []checkpoint.Candidate) {
			for i := range l {
				l[i].Reason = "cut"
			}
		}, []int64{9, 10, 20, 30, 100}},
		{"one step, two files", checkpoint.Policy{Last: 1}, func(l []checkpoint.Candidate) { l[3].Step = 100 }, []int64{100, 100}},
		{"no step beside others", checkpoint.Policy{Last: 1}, func(l []checkpoint.Candidate) { l[0].Step = checkpoint.NoStep }, []int64{-1, 100}},
		{"no steps at all", checkpoint.Policy{Last: 2}, func(l []checkpoint.Candidate) {
			for i := range l {
				l[i].Step = checkpoint.NoStep
			}
		}, []int64{-1, -1}},
	} {
		list := five()
		if tt.change != nil {
			tt.change(list)
		}
		var got []int64
		for _, d := range tt.policy.Decide(list) {
			if d.Keep {
				got = append(got, d.Step)
			}
			if len(d.Why) == 0 || slices.Contains(d.Why, "") {
				t.Errorf("%s: no reason for step %d", tt.name, d.Step)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: kept %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Whatever the policy: the newest whole one, what is pinned and what is held stay, and one more rule lets go no more.
func TestDecideNeverLoses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		list := make([]checkpoint.Candidate, random.IntN(12))
		for i := range list {
			list[i] = at(random.Int64N(20)-1, random.Float64())
			list[i].Pinned = random.IntN(8) == 0
			list[i].Held = []string{"", "", "", "used"}[random.IntN(4)]
			list[i].Reason = []string{"", "", "cut"}[random.IntN(3)]
		}
		p := checkpoint.Policy{Last: random.IntN(3), Every: random.Int64N(4), Best: random.IntN(3), Max: random.IntN(2) == 0, Incomplete: random.IntN(2) == 0}
		more := p
		more.Last++
		wider := more.Decide(list)
		for i, d := range p.Decide(list) {
			c := list[i]
			if !d.Keep && (c.Pinned || c.Held != "" || c.Checkpoint == newest(list)) {
				t.Fatalf("%+v lets go step %d: %v", p, d.Step, d.Why)
			}
			if some := p.Last > 0 || p.Every > 0 || p.Best > 0; some && d.Keep && !wider[i].Keep {
				t.Fatalf("%+v keeps step %d, and one more does not", p, d.Step)
			}
		}
	}
}

func newest(list []checkpoint.Candidate) *checkpoint.Checkpoint {
	var all []*checkpoint.Checkpoint
	for _, c := range list {
		all = append(all, c.Checkpoint)
	}
	return checkpoint.Latest(all)
}
