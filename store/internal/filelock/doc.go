// Package filelock takes the system's exclusive lock of an open file, among processes and among files opened twice in
// one. It ends when the file is closed, or its process ends.
package filelock
