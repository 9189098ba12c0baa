// Package openlineage speaks OpenLineage 2-0-2 (https://openlineage.io/spec/2-0-2/OpenLineage.json): it writes recorded
// runs as events, sends them where the standard's variables say, and records events of other tools as runs.
//
// A dataset of the standard is an input's URI or name here, and a run's UUID part of a run's id, both ways the same, so
// that what other tools read and write joins what heirloom's runs did.
package openlineage
