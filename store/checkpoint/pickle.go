package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
)

// kind is what a token of a pickle is.
type kind int

const (
	other kind = iota // whatever else is pushed or done
	text
	integer
	boolean
	structure // opcodes that only build: marks, memos, frames
)

// token is one opcode of a pickle, as far as it is a name or a number.
type token struct {
	kind kind
	text string
	n    int64 // of an integer; 1 is true, 0 false
}

const maxPickleText = 1 << 20 // bytes of a string that is kept

var errPickle = errors.New("it is no pickle that can be looked through")

// pickle reads the opcodes of a pickle of protocols 0 to 5 one after the other and does nothing that they ask for. It
// follows the memo, by which a string is named that came before.
type pickle struct {
	in    *bufio.Reader
	memo  map[uint64]token
	count uint64 // of memoized values
	last  token  // the one pushed last
	ended bool
}

func newPickle(r io.Reader) *pickle {
	return &pickle{in: bufio.NewReader(r), memo: map[uint64]token{}}
}

// next is the next token that pushes a value; io.EOF after the end, errPickle for what is no opcode.
func (p *pickle) next() (token, error) {
	for {
		t, err := p.step()
		if err != nil {
			return token{}, err
		}
		if t.kind == structure {
			continue
		}
		p.last = t
		return t, nil
	}
}

// step reads one opcode (Python's pickletools.py).
func (p *pickle) step() (token, error) {
	if p.ended {
		return token{}, io.EOF
	}
	op, err := p.in.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return token{}, err
	}
	switch op {
	case '.':
		p.ended = true
		return token{}, io.EOF
	case 0x80: // PROTO
		return p.skip(structure, 1)
	case 0x95: // FRAME
		return p.skip(structure, 8)
	case '(', '0', '1', '2': // MARK, POP, POP_MARK, DUP
		return token{kind: structure}, nil
	case 0x94: // MEMOIZE
		p.memo[p.count] = p.last
		p.count++
		return token{kind: structure}, nil
	case 'q', 'r', 'p', 'h', 'j', 'g':
		return p.remembered(op)
	case 'X', 0x8c, 0x8d, 'V', 'U', 'T', 'S':
		return p.string(op)
	case 'K', 'M', 'J', 'I', 'L', 0x8a, 0x8b, 0x88, 0x89:
		return p.integer(op)
	}
	return p.other(op)
}

// remembered puts a value into the memo, or takes one out.
func (p *pickle) remembered(op byte) (token, error) {
	var i uint64
	var err error
	switch op {
	case 'q', 'h':
		i, err = p.length(1)
	case 'r', 'j':
		i, err = p.length(4)
	default:
		line, lineErr := p.line()
		if i, err = strconv.ParseUint(line, 10, 64); lineErr != nil {
			err = lineErr
		} else if err != nil {
			err = errPickle
		}
	}
	if err != nil {
		return token{}, err
	}
	if op == 'q' || op == 'r' || op == 'p' {
		p.memo[i] = p.last
		p.count = max(p.count, i+1)
		return token{kind: structure}, nil
	}
	return p.memo[i], nil // of what was not kept, the zero token: other
}

func (p *pickle) string(op byte) (token, error) {
	width := map[byte]int{'X': 4, 0x8c: 1, 0x8d: 8, 'U': 1, 'T': 4}[op]
	if width == 0 {
		line, err := p.line()
		return token{kind: text, text: strings.Trim(line, `'"`)}, err
	}
	n, err := p.length(width)
	if err != nil {
		return token{}, err
	}
	if n > maxPickleText {
		return p.skip(other, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(p.in, b); err != nil {
		return token{}, short(err)
	}
	return token{kind: text, text: string(b)}, nil
}

func (p *pickle) integer(op byte) (token, error) {
	switch op {
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return token{kind: boolean, n: int64(0x89 - op)}, nil
	case 'I', 'L':
		return p.decimal()
	case 0x8a:
		n, err := p.length(1)
		if err != nil || n > 8 {
			return p.skip(other, n)
		}
		return p.long(int(n))
	case 0x8b:
		n, err := p.length(4)
		if err != nil {
			return token{}, err
		}
		return p.skip(other, n)
	}
	n, err := p.length(map[byte]int{'K': 1, 'M': 2, 'J': 4}[op])
	if op == 'J' {
		n = uint64(int64(int32(n)))
	}
	return token{kind: integer, n: int64(n)}, err
}

// long reads a little-endian number of n bytes in two's complement.
func (p *pickle) long(n int) (token, error) {
	v, err := p.length(n)
	if shift := 64 - 8*n; n > 0 {
		return token{kind: integer, n: int64(v) << shift >> shift}, err
	}
	return token{kind: integer}, err
}

func (p *pickle) decimal() (token, error) {
	line, err := p.line()
	if err != nil {
		return token{}, err
	}
	if line == "00" || line == "01" {
		return token{kind: boolean, n: int64(line[1] - '0')}, nil
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(line, "L"), 10, 64)
	if err != nil {
		return token{kind: other}, nil // larger than any that matter
	}
	return token{kind: integer, n: n}, nil
}

// other passes over the opcodes that are neither names nor numbers.
func (p *pickle) other(op byte) (token, error) {
	switch op {
	case 'G': // BINFLOAT
		return p.skip(other, 8)
	case 'C', 0x82:
		return p.counted(op, 1)
	case 'B', 0x84:
		return p.counted(op, 4)
	case 0x8e, 0x96:
		return p.counted(op, 8)
	case 0x83:
		return p.skip(other, 2)
	case 'F', 'P':
		_, err := p.line()
		return token{kind: other}, err
	case 'c', 'i': // GLOBAL, INST: a module and a name
		if _, err := p.line(); err != nil {
			return token{}, err
		}
		_, err := p.line()
		return token{kind: other}, err
	case 'N', ']', ')', '}', 0x8f, 'a', 'e', 's', 'u', 'l', 'd', 't', 0x85, 0x86, 0x87, 0x90, 0x91, 'R', 'b', 'o', 0x81, 0x92, 0x93, 'Q', 0x97, 0x98:
		return token{kind: other}, nil
	}
	return token{}, errPickle
}

// counted passes over bytes that follow their length; an extension's code is a length of nothing.
func (p *pickle) counted(op byte, width int) (token, error) {
	n, err := p.length(width)
	if err != nil || op == 0x82 || op == 0x84 {
		return token{kind: other}, err
	}
	return p.skip(other, n)
}

func (p *pickle) skip(k kind, n uint64) (token, error) {
	if n > 1<<62 {
		return token{}, errPickle
	}
	_, err := io.CopyN(io.Discard, p.in, int64(n))
	return token{kind: k}, short(err)
}

// length reads a little-endian number of up to 8 bytes.
func (p *pickle) length(width int) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(p.in, b[:width])
	return binary.LittleEndian.Uint64(b[:]), short(err)
}

// line reads up to the end of a line.
func (p *pickle) line() (string, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if line = append(line, part...); err == nil {
			return strings.TrimSuffix(string(line), "\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxPickleText {
			return "", short(err)
		}
	}
}

// short makes any end the wrong one: a pickle has its own.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
