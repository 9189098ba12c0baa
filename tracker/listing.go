package tracker

import (
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// listing is what a run consists of, known from the names of its objects alone.
type listing struct {
	id          RunID
	objects     int // of all kinds, foreign ones too
	metadata    []record
	artifacts   []record
	sources     map[RunID]store.Key // text file of each source
	descendants map[RunID]store.Key // text file of each child in the mirror
	links       map[linkID]linkObject
	attempts    map[int]attemptKeys
	deleted     bool        // it holds a mark, see FileTracker.Hide
	others      []store.Key // short objects that are no part of the run, or were moved aside
	warnings    []Warning
}

// maxOtherBytes bounds the objects that only the search for secrets reads.
const maxOtherBytes = 1 << 20

type record struct {
	key    store.Key
	digits string // of the name, without leading zeros
}

type linkID struct {
	source   RunID
	artifact string
}

type linkObject struct {
	key  store.Key
	size int64
}

// attemptKeys are the objects of one attempt, "" where there is none.
type attemptKeys struct {
	start, end, beat store.Key
}

func newListing(id RunID) *listing {
	return &listing{
		id:          id,
		sources:     make(map[RunID]store.Key),
		descendants: make(map[RunID]store.Key),
		links:       make(map[linkID]linkObject),
		attempts:    make(map[int]attemptKeys),
	}
}

func (l *listing) warn(rule Rule, key store.Key, reason string) {
	l.warnings = append(l.warnings, Warning{Rule: rule, Key: key, Reason: reason})
}

// add sorts one object of the run into its place. What is below heirloom and
// not known is a later version's, and passed over in silence.
func (l *listing) add(o store.Object) {
	l.objects++
	elems := strings.Split(string(o.Key), "/")[1:]
	switch {
	case len(elems) == 2 && elems[0] == metadataDir:
		l.metadata = l.addRecord(l.metadata, o.Key, elems[1])
	case len(elems) == 2 && elems[0] == artifactsDir:
		l.artifacts = l.addRecord(l.artifacts, o.Key, elems[1])
	case len(elems) == 2 && elems[0] == sourcesDir:
		if id, err := DecodeRunID(elems[1]); err == nil {
			l.sources[id] = o.Key
			return
		}
		l.warn(RuleSourceForeign, o.Key, "not the name of a source")
	case len(elems) == 2 && elems[0] == descendantsDir:
		if id, err := DecodeRunID(elems[1]); err == nil {
			l.descendants[id] = o.Key
			return
		}
		l.warn(RuleDescendantForeign, o.Key, "not the name of a descendant")
	case elems[0] == heirloomDir && len(elems) == 4 && elems[1] == linksDir:
		l.addLink(o, elems[2], elems[3])
	case elems[0] == heirloomDir && len(elems) == 4 && elems[1] == attemptsDir:
		l.addAttempt(o.Key, elems[2], elems[3])
	case elems[0] == heirloomDir:
		l.addOther(o)
	case len(elems) > 2 && slices.Contains([]string{metadataDir, artifactsDir, sourcesDir, descendantsDir}, elems[0]):
		l.warn(RuleRecordNested, o.Key, "in a directory among the records")
	default:
		l.warn(RuleObjectForeign, o.Key, "not part of a run")
		l.addOther(o)
	}
}

func (l *listing) addOther(o store.Object) {
	if o.Size <= maxOtherBytes {
		l.others = append(l.others, o.Key)
	}
}

func (l *listing) addRecord(list []record, key store.Key, name string) []record {
	digits, ok := recordDigits(name)
	if !ok {
		l.warn(RuleRecordForeign, key, "not the name of a record")
		return list
	}
	return append(list, record{key: key, digits: digits})
}

func (l *listing) addLink(o store.Object, source, artifact string) {
	id, err := DecodeRunID(source)
	if err != nil {
		l.warn(RuleLinkForeign, o.Key, "not the name of a source")
		return
	}
	name, err := decodeArtifact(artifact)
	if err != nil {
		l.warn(RuleLinkForeign, o.Key, "not the name of a link")
		return
	}
	l.links[linkID{id, name}] = linkObject{key: o.Key, size: o.Size}
}

func (l *listing) addAttempt(key store.Key, number, name string) {
	if number == deletedDir {
		l.deleted = true
		return
	}
	n, ok := attemptNumber(number)
	if !ok {
		l.warn(RuleAttemptForeign, key, "not the number of an attempt")
		return
	}
	a := l.attempts[n]
	switch name {
	case startName:
		a.start = key
	case endName:
		a.end = key
	case beatName:
		a.beat = key
	default:
		return // a later version's
	}
	l.attempts[n] = a
}

// uses says whether the run has id as a source, by link or by text file.
func (l *listing) uses(id RunID) bool {
	if _, ok := l.sources[id]; ok {
		return true
	}
	for link := range l.links {
		if link.source == id {
			return true
		}
	}
	return false
}

// parents are all sources, each once.
func (l *listing) parents() map[RunID]bool {
	set := make(map[RunID]bool)
	for id := range l.sources {
		set[id] = true
	}
	for link := range l.links {
		set[link.source] = true
	}
	return set
}

// recordKeys, sourceKeys and attemptKeys are what the folds of the same name
// want to have read.

func recordKeys(list []record) []store.Key {
	keys := make([]store.Key, len(list))
	for i, r := range list {
		keys[i] = r.key
	}
	return keys
}

// sourceKeys lists text files and links, those of one source unless only is "".
// Links that hold nothing but a time are left out if bare is false.
func (l *listing) sourceKeys(only RunID, bare bool) []store.Key {
	var keys []store.Key
	for id, key := range l.sources {
		if only == "" || id == only {
			keys = append(keys, key)
		}
	}
	for id, o := range l.links {
		if (only == "" || id.source == only) && (bare || o.size != int64(bareLinkBytes)) {
			keys = append(keys, o.key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (l *listing) attemptKeys() []store.Key {
	var keys []store.Key
	for _, a := range l.attempts {
		for _, key := range []store.Key{a.start, a.end, a.beat} {
			if key != "" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (l *listing) allKeys() []store.Key {
	return slices.Concat(recordKeys(l.metadata), recordKeys(l.artifacts), l.sourceKeys("", true), l.attemptKeys())
}
