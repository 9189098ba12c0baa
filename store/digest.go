package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Digest is a SHA-256 as 64 lower-case hexadecimal digits. "" is none.
type Digest string

// ParseDigest reads "sha256:<hex>" or bare hex, in either case of letters. The error has kind ErrInvalid.
func ParseDigest(s string) (Digest, error) {
	text := strings.ToLower(s)
	text = strings.TrimPrefix(text, "sha256:")
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != sha256.Size {
		err := fmt.Errorf("%q is no SHA-256: 64 hexadecimal digits are wanted, with or without sha256: before them", s)
		return "", &Error{Op: "parse digest", Kind: ErrInvalid, Err: err}
	}
	return Digest(text), nil
}

// DigestOf is the digest of body.
func DigestOf(body []byte) Digest {
	sum := sha256.Sum256(body)
	return Digest(hex.EncodeToString(sum[:]))
}

// DigestFrom is the digest of what was written to h, a SHA-256.
func DigestFrom(h hash.Hash) Digest { return Digest(hex.EncodeToString(h.Sum(nil))) }
