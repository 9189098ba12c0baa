package tracker

import (
	"encoding/base32"
	"slices"
	"strings"
)

// Rule names what a root should not hold. Readers pass over what breaks one and
// tell of it in a Warning; Fsck looks for all of them.
type Rule string

// The rules.
const (
	RuleFormat            Rule = "format"             // heirloom.json cannot be understood
	RuleDirectoryForeign  Rule = "directory-foreign"  // TorchX takes every directory of the root for a run, and stops
	RuleDirectoryMisspelt Rule = "directory-misspelt" // base32 in lower case or without its padding
	RuleIDEmpty           Rule = "id-empty"           // TorchX was given no run id and wrote into the root itself
	RuleIDBad             Rule = "id-bad"             // the id is not UTF-8 or holds control characters
	RuleDirectoryMark     Rule = "directory-mark"     // an object that marks a directory: TorchX takes it for a record
	RuleIDLong            Rule = "id-long"            // the id has more than 155 bytes: no local disk can hold it
	RuleRunEmpty          Rule = "run-empty"          // a directory without any object: its writer was killed before the first
	RuleIDTwin            Rule = "id-twin"            // two ids look the same or differ in case alone
	RuleRecordDamaged     Rule = "record-damaged"     // TorchX fails for the whole run
	RuleRecordForeign     Rule = "record-foreign"     // the name is not a number; TorchX reads it, or fails
	RuleRecordNested      Rule = "record-nested"      // TorchX takes a directory for a record, and fails
	RuleRecordFuture      Rule = "record-future"      // written by a clock that was far ahead: it wins for long
	RuleRecordClash       Rule = "record-clash"       // two records of one time give a key two values
	RuleObjectForeign     Rule = "object-foreign"     // in a run's directory, and no part of it
	RuleUnreadable        Rule = "unreadable"         // refused, or damaged below the records
	RuleSourceForeign     Rule = "source-foreign"     // TorchX fails for the whole run
	RuleDescendantForeign Rule = "descendant-foreign" // in the mirror, and names no run
	RuleTextTorn          Rule = "text-torn"          // the last line is part of a name
	RuleLinkUnmirrored    Rule = "link-unmirrored"    // TorchX does not see the link
	RuleLinkDamaged       Rule = "link-damaged"       // the edge counts; what was known of it is lost
	RuleLinkForeign       Rule = "link-foreign"       // among the links, and none
	RuleDescendantMissing Rule = "descendant-missing" // the parent's mirror lacks the link
	RuleDescendantAlone   Rule = "descendant-alone"   // in the parent's mirror, and the child knows nothing of it
	RuleAttemptDamaged    Rule = "attempt-damaged"    // the record of a start, end or beat
	RuleAttemptForeign    Rule = "attempt-foreign"    // among the attempts, and none
	RuleAttemptUnstarted  Rule = "attempt-unstarted"  // an end or a beat without a start
	RuleArtifactName      Rule = "artifact-name"      // TorchX's text files lose line ends and surrounding space
	RuleArtifactKey       Rule = "artifact-key"       // leads out of the store
	RuleArtifactMissing   Rule = "artifact-missing"   // nothing lies where it should
	RuleArtifactSize      Rule = "artifact-size"      // not the size that was recorded
	RuleArtifactDigest    Rule = "artifact-digest"    // not the bytes that were recorded
	RuleSecret            Rule = "secret"             // asked for by FsckOptions.Secrets
	RuleTorchXNameless    Rule = "torchx-nameless"    // asked for by FsckOptions.TorchX: it drops the nameless link
	RuleTorchXOrder       Rule = "torchx-order"       // asked for by FsckOptions.TorchX: it may take an older value
)

// misspeltChars is from which length on a word that could be base32 is taken for it.
const misspeltChars = 16

// directoryRule says what is wrong with a directory of the root that is no run's.
func directoryRule(name string) Rule {
	if slices.Contains([]string{metadataDir, artifactsDir, sourcesDir, descendantsDir}, name) {
		return RuleIDEmpty
	}
	text, err := base32.StdEncoding.DecodeString(name)
	switch {
	case err == nil && len(text) > maxIDBytes:
		return RuleIDLong
	case err == nil && base32.StdEncoding.EncodeToString(text) == name:
		return RuleIDBad
	}
	upper := strings.ToUpper(strings.TrimRight(name, "="))
	if _, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(upper); err == nil && len(upper) >= misspeltChars {
		return RuleDirectoryMisspelt
	}
	return RuleDirectoryForeign
}
