package store

import (
	"net/url"
	"strings"
)

const (
	maxRunName = 200  // bytes of an encoded run id
	cutMark    = "%~" // stands before the digest of an id that was too long; no other encoding has it
	noRun      = "%"  // the empty id; no other encoding has it
)

// EncodeRun makes one element of a key from a run id, of any bytes: those outside A-Z, a-z, 0-9, ".", "_" and "-", and
// a leading dot, become "%" and two hexadecimal digits. Beyond 200 bytes it is the first part, "%~" and the
// SHA-256 of the id. Two ids never share a name, and no name leads out of its directory.
func EncodeRun(run string) string {
	if run == "" {
		return noRun
	}
	var out strings.Builder
	for i := range len(run) {
		if isRunByte(run[i]) && (i > 0 || run[i] != '.') {
			out.WriteByte(run[i])
			continue
		}
		out.WriteByte('%')
		out.WriteByte("0123456789ABCDEF"[run[i]>>4])
		out.WriteByte("0123456789ABCDEF"[run[i]&15])
	}
	if out.Len() <= maxRunName {
		return out.String()
	}
	end := cutMark + string(DigestOf([]byte(run)))
	head := out.String()[:maxRunName-len(end)]
	if i := strings.LastIndexByte(head, '%'); i > len(head)-3 && i >= 0 {
		head = head[:i] // no half escape
	}
	return head + end
}

// DecodeRun reverses EncodeRun. It says no for a name that EncodeRun does not make, and for one that holds
// only the digest of its id.
func DecodeRun(name string) (string, bool) {
	if name == noRun {
		return "", true
	}
	run, err := url.PathUnescape(name)
	return run, err == nil && EncodeRun(run) == name
}

func isRunByte(c byte) bool {
	switch {
	case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == '-'
}
