// Package runner starts jobs and records them.
//
// An [App] is roles and their replicas. A [Runner] settles all about its run in a
// [Plan], which changes nothing and travels as JSON, and hands that to a [Scheduler]
// of its table. Schedulers are what outsiders implement; package runnertest says
// what they promise.
//
// A [Launcher] runs a job in the foreground on this machine. It fixes the run
// id first and records what it knows before the job starts; what it records at
// the end is written last to first: the outputs, what is said about them, and
// then the end of the attempt, which is the commit. A launcher that dies leaves
// an attempt without an end, never one that succeeded.
package runner
