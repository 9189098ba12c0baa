// Package index keeps what a tracker root records in an SQLite file of the user's cache, so that questions about many
// runs need not read them. The file is never the truth: it is made anew when it is missing, damaged or of another
// version, and brought up to date from one listing, by which only the runs that changed are read again.
//
// Several processes may use one index at once. A reader sees the state between two batches of a refresh.
package index
