// Package removal deletes runs in two steps: first a run is hidden, as it is, and can be restored; later it is purged, its
// records and its output. What becomes of a run is told by objects that are created once and stay, as its history:
//
//	heirloom/deleted/<run>/<%06d>/deleted   that it is to go: when, by whom, why, and what it was then
//	                              files     what a purge will delete; gone when it has
//	                              outcome   restored or purged: whoever creates it decides
//	                              done      the outcome has been carried out
//
// What readers go by is a mark in the run's own directory (tracker.FileTracker.Hide), so that to see it costs no request. It
// is set after the first of these objects and removed as the last of the run, before done. Whoever finds an outcome that
// was not carried out can carry it out, however far it came.
//
// A run that is written to once it was deleted is not purged. What is written while it is purged stays.
package removal
