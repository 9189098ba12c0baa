package alias

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Alias is what a name means, or meant.
type Alias struct {
	Name string `json:"name"`
	Node string `json:"node"` // full id of a run, or RUN#ARTIFACT; "" = removed
	// Artifact is what follows the run and "#" in Node, "" where the run itself is meant.
	Artifact string    `json:"artifact,omitempty"`
	Number   int64     `json:"number"` // from 1; the highest counts
	Time     time.Time `json:"time"`   // when it was set, by the clock of who did
	User     string    `json:"user"`   // who set it, "" where that is not known
	Reason   string    `json:"reason,omitempty"`
}

// Run is the id of the run that is meant, or whose artifact is; "" = removed.
func (a Alias) Run() tracker.RunID {
	if a.Artifact == "" {
		return tracker.RunID(a.Node)
	}
	return tracker.RunID(strings.TrimSuffix(a.Node, "#"+a.Artifact))
}

// Removed says whether the name means nothing any more.
func (a Alias) Removed() bool { return a.Node == "" }

// Set is the aliases of one store. It may be used by any number of processes at once.
type Set struct {
	s   *store.Store
	dir store.Key
	now func() time.Time
}

// NewSet returns the aliases below the prefix that a store stands for. now is the clock; nil = time.Now.
func NewSet(s *store.Store, now func() time.Time) *Set {
	if now == nil {
		now = time.Now
	}
	return &Set{s: s, dir: s.Layout().Heirloom().Join("aliases"), now: now}
}

// names is what an alias may be called: it stands in keys, and after an @.
var names = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$`)

// CheckName refuses a name that cannot be an alias; the error has kind store.ErrInvalid.
func CheckName(name string) error {
	if names().MatchString(name) {
		return nil
	}
	return &store.Error{Op: "name alias", Key: strconv.Quote(name), Kind: store.ErrInvalid,
		Err: errors.New("an alias is 1 to 100 letters, digits, underscores, dots and dashes, and begins with one of the first three")}
}

// record is the body of an object.
type record struct {
	Node     string    `json:"node"`
	Artifact string    `json:"artifact,omitempty"`
	Time     time.Time `json:"time"`
	User     string    `json:"user,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

func (s *Set) key(name string, number int64) store.Key {
	return s.dir.Join(name, fmt.Sprintf("%020d", number))
}

// number reads the last element of a key; 0 is not the name of a record.
func number(element string) int64 {
	n, err := strconv.ParseInt(element, 10, 64)
	if err != nil || fmt.Sprintf("%020d", n) != element {
		return 0
	}
	return max(n, 0)
}

func parse(name string, number int64, body []byte) (Alias, error) {
	var r record
	if err := json.Unmarshal(body, &r); err != nil {
		return Alias{}, &store.Error{Op: "read alias", Key: fmt.Sprintf("%s, number %d", name, number), Kind: store.ErrCorrupt, Err: err}
	}
	return Alias{Name: name, Node: r.Node, Artifact: r.Artifact, Number: number, Time: r.Time, User: r.User, Reason: r.Reason}, nil
}
