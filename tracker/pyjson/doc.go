// Package pyjson reads and writes JSON as Python's json module does with its
// defaults, byte for byte: TorchX's tracker files are made of it.
//
// It differs from encoding/json in that objects keep the order of their keys,
// integers have any size and stay apart from floats, NaN and Infinity are
// legal, and strings may hold lone surrogates.
package pyjson
