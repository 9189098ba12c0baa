package tracker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// farAhead is by how much a clock may be ahead of ours.
const farAhead = 24 * time.Hour

func isKind(err, kind error) bool { return errors.Is(err, kind) }

// checkTwins finds ids that people, or some file systems, cannot tell apart.
func (f *fsck) checkTwins(ids []RunID) {
	fold := cases.Fold()
	first := make(map[string]RunID)
	for _, id := range ids {
		form := fold.String(norm.NFC.String(string(id)))
		if other, ok := first[form]; ok {
			f.found(RuleIDTwin, id, id.dir(), fmt.Sprintf("differs from %q in case or Unicode form alone", other), "", nil)
			continue
		}
		first[form] = id
	}
}

// checkRecords looks at the times of records.
func (f *fsck) checkRecords(l *listing, b bodies) {
	limit := strconv.FormatInt(f.now.Add(farAhead).UnixNano(), 10)
	before := record{}
	for _, r := range slices.Concat(l.metadata, l.artifacts) {
		if len(r.digits) > len(limit) || len(r.digits) == len(limit) && r.digits > limit {
			f.found(RuleRecordFuture, l.id, r.key, "its time lies more than a day ahead: it wins over all that is written until then", "", nil)
		}
	}
	for _, r := range l.metadata { // in order since they were merged
		if r.digits == before.digits && before.key != "" {
			if keys := clashing(b[before.key].data, b[r.key].data); len(keys) > 0 {
				f.found(RuleRecordClash, l.id, r.key, fmt.Sprintf("gives %s another value than %s of the same time", strings.Join(keys, ", "), before.key.Base()), "", nil)
			}
		}
		before = r
	}
}

// clashing are the keys of metadata to which two records give different values.
func clashing(a, b []byte) []string {
	x, errX := parseMetadata(a)
	y, errY := parseMetadata(b)
	if errX != nil || errY != nil {
		return nil
	}
	var keys []string
	for _, key := range x.Keys() {
		one, _ := x.Get(key)
		two, both := y.Get(key)
		if both && !sameValue(one, two) {
			keys = append(keys, strconv.Quote(key))
		}
	}
	return keys
}

func sameValue(a, b any) bool {
	x, errX := pyjson.Marshal(a)
	y, errY := pyjson.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// checkTexts compares the links with the lines that TorchX reads.
func (f *fsck) checkTexts(l *listing, b bodies) {
	written := l.written()
	for _, id := range slices.SortedFunc(maps.Keys(l.parents()), compareIDs) {
		key, there := l.sources[id]
		if !there {
			key = l.id.dir().Join(sourcesDir, id.Encode())
		}
		body := b[key]
		if body.err != nil {
			continue // told by the reader
		}
		if tail := tornTail(body.data, written[id]); tail != "" {
			f.found(RuleTextTorn, l.id, key, "ends within a name", "move it aside and write it anew", func(ctx context.Context) error {
				return f.rewriteText(ctx, l.id, key, written[id])
			})
			continue
		}
		missing := f.without(l, id, b, linesOf(body.data, there))
		if len(missing) > 0 {
			f.found(RuleLinkUnmirrored, l.id, key, "lacks "+quoted(missing)+": TorchX does not see that", "add it", f.adding(key, missing))
		}
	}
}

// without are the names of links to id, not young ones, that lines lack.
func (f *fsck) without(l *listing, id RunID, b bodies, lines map[string]bool) []string {
	var missing []string
	for link, o := range l.links {
		if link.source == id && !lines[link.artifact] && !f.youngLink(b[o.key].data) {
			missing = append(missing, link.artifact)
		}
	}
	slices.Sort(missing)
	return missing
}

func (f *fsck) youngLink(body []byte) bool {
	var s Source
	return s.readLink(body) == nil && f.young(s.Time)
}

// checkMirror looks for each edge in the directory of the parent, if that is a
// run. Edges without a link were written by TorchX, which need not mirror them.
func (f *fsck) checkMirror(l *listing, b bodies, run *Run) {
	missing := make(map[RunID][]string)
	for _, s := range run.Sources {
		p := f.root.runs[s.ID]
		_, linked := l.links[linkID{s.ID, s.Artifact}]
		if p == nil || !linked && !f.opts.TorchX || f.young(s.Time) {
			continue
		}
		key, there := p.descendants[l.id]
		if body := b[key]; body.err == nil && !linesOf(body.data, there)[s.Artifact] {
			missing[s.ID] = append(missing[s.ID], s.Artifact)
		}
	}
	for _, parent := range slices.SortedFunc(maps.Keys(missing), compareIDs) {
		key := parent.dir().Join(descendantsDir, l.id.Encode())
		f.found(RuleDescendantMissing, l.id, key, "lacks "+quoted(missing[parent])+" in the directory of "+printable(string(parent)), "add it", f.adding(key, missing[parent]))
	}
}

// checkAttempts looks for attempts whose start is gone.
func (f *fsck) checkAttempts(run *Run) {
	l := f.root.runs[run.ID]
	for _, a := range run.Attempts {
		if keys := l.attempts[a.Number]; keys.start == "" {
			key := run.ID.dir().Join(heirloomDir, attemptsDir, fmt.Sprintf("%06d", a.Number))
			f.found(RuleAttemptUnstarted, run.ID, key, "an attempt without the record of its start", "", nil)
		}
	}
}

// checkOrder tells of what TorchX reads otherwise.
func (f *fsck) checkOrder(l *listing, b bodies, run *Run) {
	if !f.opts.TorchX {
		return
	}
	names := make(map[RunID]int)
	for _, s := range run.Sources {
		names[s.ID]++
	}
	for _, s := range run.Sources {
		if s.Artifact == "" && names[s.ID] > 1 {
			f.found(RuleTorchXNameless, run.ID, run.ID.dir().Join(sourcesDir, s.ID.Encode()), "TorchX drops the link without a name beside those with names", "", nil)
		}
	}
	stale := make(map[string]store.Key)
	for _, r := range l.metadata {
		m, err := parseMetadata(b[r.key].data)
		if err != nil {
			continue
		}
		for _, key := range m.Keys() {
			v, _ := m.Get(key)
			if last, _ := run.Metadata.Get(key); !sameValue(v, last) {
				stale[key] = r.key
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(stale)) {
		f.found(RuleTorchXOrder, run.ID, stale[key], fmt.Sprintf("%q has another value in a later record: on a local disk TorchX may take this one", key), "", nil)
	}
}

// written are the artifacts of the links, by source.
func (l *listing) written() map[RunID]map[string]bool {
	written := make(map[RunID]map[string]bool)
	for id := range l.links {
		if written[id.source] == nil {
			written[id.source] = make(map[string]bool)
		}
		written[id.source][id.artifact] = true
	}
	return written
}

// tornTail is what follows the last line end of a text file if it is the
// beginning of a name that was to be written.
func tornTail(body []byte, written map[string]bool) string {
	tail := string(body[strings.LastIndexByte(string(body), '\n')+1:])
	if tail == "" || !torn(tail, written) {
		return ""
	}
	return tail
}

// linesOf are the lines of a text file; an empty file that is there has the
// empty one.
func linesOf(body []byte, there bool) map[string]bool {
	lines := make(map[string]bool)
	if !there {
		return lines
	}
	for _, line := range textLines(body, nil) {
		lines[line] = true
	}
	return lines
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strconv.Quote(name)
		if name == "" {
			list[i] = "the link without a name"
		}
	}
	return strings.Join(list, ", ")
}

func compareIDs(a, b RunID) int { return strings.Compare(string(a), string(b)) }
