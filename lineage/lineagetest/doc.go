// Package lineagetest makes tracker roots as they look after months of a team's work, of any size and equal for equal
// seeds, for tests and measurements. Objects are written directly, in the stored format of package tracker and TorchX,
// since recording a million runs one by one takes hours.
package lineagetest
