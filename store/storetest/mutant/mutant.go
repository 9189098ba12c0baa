package mutant

import (
	"slices"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/heirloom-ml/heirloom/store"
)

// Mutant is a kind of store with one defect.
type Mutant struct {
	Name string // what is wrong with it
	seed func(*mutant)
}

// Sound has no defect.
func Sound() Mutant { return Mutant{"sound", func(*mutant) {}} }

// Named is the mutant of that name; ok is false if there is none.
func Named(name string) (m Mutant, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(m Mutant) bool { return m.Name == name })
	if i < 0 {
		return Mutant{}, false
	}
	return all[i], true
}

// All are the defects of a driver.
func All() []Mutant { return slices.Concat(creating(), listing(), reading(), writing()) }

// Open makes an empty store in memory with the defect. opts may be nil. The
// caller closes it.
func (m Mutant) Open(opts *store.Options) *store.Store {
	d := &mutant{Bucket: memblob.OpenBucket(nil)}
	m.seed(d)
	return store.FromBucket(blob.NewBucket(d), "mutant://", opts)
}
