package openlineage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Each calls do with every event of a file, and the line on which it begins: one a line, a JSON array of them, or one
// after the other over several lines. It stops at the first error of do or of the reader. What is no JSON is handed on
// as it is, a line at a time, for do to complain about.
func Each(r io.Reader, do func(line int, body []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	line, first, err := 1, byte(0), error(nil)
	for {
		if first, err = in.ReadByte(); err != nil {
			return ignoreEOF(err)
		}
		if first == '\n' {
			line++
		} else if first != ' ' && first != '\t' && first != '\r' && first != 0xef && first != 0xbb && first != 0xbf {
			break
		}
	}
	if err := in.UnreadByte(); err != nil {
		return err
	}
	if first == '[' {
		return eachElement(in, line, do)
	}
	return eachLine(in, line, do)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// eachLine reads one event a line. A line that is the beginning of a longer event is completed by those behind it.
func eachLine(in *bufio.Reader, line int, do func(int, []byte) error) error {
	for {
		text, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		lines := 1
		if begins(text) && err == nil {
			more, n, err := completed(in, text)
			if err != nil {
				return err
			}
			text, lines = more, lines+n
		}
		if body := bytes.TrimSpace(text); len(body) > 0 {
			if err := do(line, body); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		line += lines
	}
}

// readLine reads up to the end of a line, with it.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxEventBytes {
			return nil, fmt.Errorf("a line has more than %d bytes: %w", maxEventBytes, invalid("too long"))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// begins says whether a line is the beginning of an object that others behind it may complete.
func begins(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && depth(text) > 0
}

// depth is how many objects and lists are open at the end of a text.
func depth(text []byte) int {
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
		case c == '}' || c == ']':
			open--
		}
	}
	if quoted {
		return 0 // a text does not go on over the end of a line: this one is broken
	}
	return open
}

// completed adds lines until the object is closed. A line that begins a new object at its margin ends one that was
// never closed.
func completed(in *bufio.Reader, text []byte) ([]byte, int, error) {
	lines, open := 0, depth(text)
	for open > 0 {
		if next, err := in.Peek(1); err != nil || next[0] == '{' {
			return text, lines, ignoreEOF(err)
		}
		more, err := readLine(in)
		text = append(text, more...)
		lines++
		open += depth(more)
		if err != nil {
			return text, lines, ignoreEOF(err)
		}
		if len(text) > maxEventBytes {
			return nil, lines, invalid(fmt.Sprintf("an event has more than %d bytes", maxEventBytes))
		}
	}
	return text, lines, nil
}

// counter counts the lines that were read.
type counter struct {
	r     io.Reader
	ends  []int64 // offsets behind each line end
	bytes int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.bytes+int64(i)+1)
		}
	}
	c.bytes += int64(n)
	return n, err
}

// eachElement reads the events of an array.
func eachElement(in *bufio.Reader, line int, do func(int, []byte) error) error {
	c := &counter{r: in}
	d := json.NewDecoder(c)
	if _, err := d.Token(); err != nil {
		return err
	}
	passed := 0
	for d.More() {
		var body json.RawMessage
		err := d.Decode(&body)
		begin := d.InputOffset() - int64(len(body))
		for passed < len(c.ends) && c.ends[passed] <= begin {
			passed++
		}
		if err != nil {
			return invalid(fmt.Sprintf("line %d: the array is broken: %s", line+passed, reason(err)))
		}
		if err := do(line+passed, body); err != nil {
			return err
		}
	}
	_, err := d.Token()
	if err != nil {
		return invalid(fmt.Sprintf("line %d: the array is not closed", line+len(c.ends)))
	}
	return nil
}
