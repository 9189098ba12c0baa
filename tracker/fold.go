package tracker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// foldMetadata merges the records in order; the last value of a key wins.
func (l *listing) foldMetadata(b bodies) *Metadata {
	merged := &Metadata{}
	slices.SortFunc(l.metadata, compareRecords)
	for _, r := range l.metadata {
		if m, ok := take(l, b, r.key, RuleRecordDamaged, parseMetadata); ok {
			merged.Merge(m)
		}
	}
	return merged
}

// foldArtifacts keeps the last record of each name.
func (l *listing) foldArtifacts(b bodies) []Artifact {
	byName := make(map[string]Artifact)
	slices.SortFunc(l.artifacts, compareRecords)
	for _, r := range l.artifacts {
		if a, ok := take(l, b, r.key, RuleRecordDamaged, parseArtifact); ok {
			byName[a.Name] = a
		}
	}
	list := slices.Collect(maps.Values(byName))
	slices.SortFunc(list, func(a, b Artifact) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// foldSources joins links and text files. A link whose body was not read, or
// cannot be, counts all the same.
func (l *listing) foldSources(b bodies, only RunID) []Source {
	var list []Source
	written := make(map[RunID]map[string]bool)
	for id, o := range l.links {
		if only != "" && id.source != only {
			continue
		}
		s := Source{ID: id.source, Artifact: id.artifact}
		if _, wanted := b[o.key]; wanted {
			take(l, b, o.key, RuleLinkDamaged, func(body []byte) (struct{}, error) { return struct{}{}, s.readLink(body) })
		}
		list = append(list, s)
		if written[id.source] == nil {
			written[id.source] = make(map[string]bool)
		}
		written[id.source][id.artifact] = true
	}
	for id, key := range l.sources {
		if only != "" && id != only {
			continue
		}
		lines, ok := take(l, b, key, RuleUnreadable, func(body []byte) ([]string, error) { return textLines(body, written[id]), nil })
		if !ok && len(written[id]) == 0 {
			lines = []string{""} // its name alone says that there is an edge
		}
		for _, artifact := range lines {
			if !written[id][artifact] {
				list = append(list, Source{ID: id, Artifact: artifact})
			}
		}
	}
	sortSources(list)
	return list
}

// foldAttempts reads the attempts in order of their number.
func (l *listing) foldAttempts(b bodies) []Attempt {
	var list []Attempt
	for _, n := range slices.Sorted(maps.Keys(l.attempts)) {
		keys, a := l.attempts[n], Attempt{Number: n}
		if keys.start != "" {
			take(l, b, keys.start, RuleAttemptDamaged, func(body []byte) (struct{}, error) { return struct{}{}, a.Start.read(body) })
		}
		if keys.beat != "" {
			a.Beat, _ = take(l, b, keys.beat, RuleAttemptDamaged, parseBeat)
		}
		if keys.end != "" {
			a.End = &AttemptEnd{State: Unknown}
			take(l, b, keys.end, RuleAttemptDamaged, func(body []byte) (struct{}, error) { return struct{}{}, a.End.read(body) })
		}
		list = append(list, a)
	}
	return list
}

func parseBeat(body []byte) (time.Time, error) {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return time.Time{}, err
	}
	return parseTime(o.Text("time")), nil
}

// run puts together what was read. now decides whether a run is lost.
func (l *listing) run(b bodies, now time.Time) *Run {
	r := &Run{
		ID:        l.id,
		Metadata:  l.foldMetadata(b),
		Artifacts: l.foldArtifacts(b),
		Sources:   l.foldSources(b, ""),
		Children:  slices.Sorted(maps.Keys(l.descendants)),
		Attempts:  l.foldAttempts(b),
	}
	r.setState(now)
	r.Warnings = l.sortedWarnings()
	return r
}

func (l *listing) sortedWarnings() []Warning {
	slices.SortFunc(l.warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Reason, b.Reason))
	})
	return l.warnings
}

// take parses one body that was read, or warns and says false.
func take[T any](l *listing, b bodies, key store.Key, damaged Rule, parse func([]byte) (T, error)) (T, bool) {
	got := b[key]
	rule, err := RuleUnreadable, got.err
	var v T
	if err == nil {
		v, err = parse(got.data)
		rule = damaged
	}
	if err != nil {
		l.warn(rule, key, err.Error())
		return v, false
	}
	return v, true
}
