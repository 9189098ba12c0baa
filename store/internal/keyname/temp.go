package keyname

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// Names that begin and end so are those of temporary files. A key that has one is escaped.
const (
	TempStart = ".heirloom-"
	TempEnd   = ".tmp"
)

// IsTemp says whether name is that of one of our temporary files.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, TempStart) && strings.HasSuffix(name, TempEnd)
}

// NewTemp is a name that nobody else has.
func NewTemp() string {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return TempStart + hex.EncodeToString(id[:]) + TempEnd
}
