package tracker

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	// maxIDBytes is what fits a file name of 255 bytes once it is base32.
	maxIDBytes = 155
	// DefaultSession is the middle part of ids where nobody names one, as in TorchX.
	DefaultSession = "torchx"

	randomFirst = "bcdfghjklmnpqrstvwxz" // TorchX's alphabets: no words, safe as a DNS label
	randomRest  = randomFirst + "012345679"
)

// RunID names a run, or something else that runs have as a source: UTF-8, 1 to
// 155 bytes, no control characters. It is fixed before a run is submitted and
// stays the same over its attempts. Ids that heirloom makes read
// scheduler://session/name-random, as TorchX's handles do.
type RunID string

// ParseRunID checks s. The error has kind store.ErrInvalid.
func ParseRunID(s string) (RunID, error) {
	if err := checkText(s, maxIDBytes); err != nil {
		return "", &store.Error{Op: "parse run id", Key: printable(s), Kind: store.ErrInvalid, Err: err}
	}
	return RunID(s), nil
}

// checkText holds for ids and names: 1 to most bytes of clean UTF-8.
func checkText(s string, most int) error {
	switch {
	case s == "":
		return errors.New("it is empty")
	case len(s) > most:
		return fmt.Errorf("it has %d bytes, more than %d", len(s), most)
	case !utf8.ValidString(s):
		return errors.New("it is not UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("it holds a control character")
	}
	return nil
}

// printable is s for use in an error: short and without control characters.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// NewRunID returns a fresh id scheduler://session/name-random. An empty session
// is DefaultSession. What a name may not hold in an id (anything but ASCII
// letters, digits, ".", "_" and "-") becomes "-", and a long one is cut; an
// empty one is "run". The error has kind store.ErrInvalid, for a scheduler or
// session of other characters.
func NewRunID(scheduler, session, name string) (RunID, error) {
	if session == "" {
		session = DefaultSession
	}
	for _, part := range []string{scheduler, session} {
		if part == "" || len(part) > 50 || strings.ContainsFunc(part, notSafe) {
			err := fmt.Errorf("%q is not 1 to 50 letters, digits, \".\", \"_\" and \"-\"", part)
			return "", &store.Error{Op: "make run id", Kind: store.ErrInvalid, Err: err}
		}
	}
	suffix, err := randomID(rand.Reader)
	if err != nil {
		return "", err
	}
	head, tail := scheduler+"://"+session+"/", "-"+suffix
	return ParseRunID(head + safeName(name, maxIDBytes-len(head)-len(tail)) + tail)
}

func notSafe(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}

func safeName(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if notSafe(r) {
			return '-'
		}
		return r
	}, name)
	name = strings.Trim(name, "-.")
	if len(name) > most {
		name = name[:most]
	}
	if name == "" {
		return "run"
	}
	return name
}

// randomID is TorchX's random_id: 64 random bits, the digits least first.
func randomID(source io.Reader) (string, error) {
	var bits [8]byte
	if _, err := io.ReadFull(source, bits[:]); err != nil {
		return "", fmt.Errorf("make run id: %w", err)
	}
	v := binary.BigEndian.Uint64(bits[:])
	out := []byte{randomFirst[v%uint64(len(randomFirst))]}
	for v /= uint64(len(randomFirst)); v > 0; v /= uint64(len(randomRest)) {
		out = append(out, randomRest[v%uint64(len(randomRest))])
	}
	return string(out), nil
}

// Encode is the name of the run's directory: padded upper-case base32.
func (r RunID) Encode() string {
	return base32.StdEncoding.EncodeToString([]byte(r))
}

// DecodeRunID reads the name of a run's directory. Anything that Encode would
// not write is refused with kind store.ErrInvalid.
func DecodeRunID(b32 string) (RunID, error) {
	text, err := base32.StdEncoding.DecodeString(b32)
	if err != nil || string(base32.StdEncoding.AppendEncode(make([]byte, 0, 256), text)) != b32 {
		err = errors.New("it is not the base32 form of an id")
		return "", &store.Error{Op: "decode run id", Key: printable(b32), Kind: store.ErrInvalid, Err: err}
	}
	return ParseRunID(string(text))
}

// Name is the part after the last "/", which people read: "train-x7fk2…". Of an
// id without one, or that ends in one, it is the whole.
func (r RunID) Name() string {
	if i := strings.LastIndexByte(string(r), '/'); i >= 0 && i+1 < len(r) {
		return string(r[i+1:])
	}
	return string(r)
}

// dir is where the run lies below the root.
func (r RunID) dir() store.Key { return store.Key(r.Encode()) }
