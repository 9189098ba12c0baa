// Package progress shows on stderr how far a transfer has come: on one line that is drawn anew, on a line now and then,
// or as JSON.
package progress
