//go:build !race

package store_test

// mostMemory is what a client may take, in bytes.
const mostMemory = 200 << 20
