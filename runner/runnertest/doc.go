// Package runnertest holds what a scheduler promises as a table of cases, for
// every scheduler the same, and a scheduler for tests that keeps its state in
// memory.
package runnertest
