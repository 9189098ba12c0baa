//go:build race

package store_test

// mostMemory is what a client may take, in bytes: the race detector needs as much
// again, twice.
const mostMemory = 3 * 200 << 20
