// Package intact tells by its structure whether a file was written to its end.
package intact
