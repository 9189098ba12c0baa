// Package runner starts jobs and records them.
//
// A [Launcher] runs one job in the foreground on this machine. It fixes the run
// id first and records what it knows before the job starts; what it records at
// the end is written last to first: the outputs, what is said about them, and
// then the end of the attempt, which is the commit. A launcher that dies leaves
// an attempt without an end, never one that succeeded.
package runner
