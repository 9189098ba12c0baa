package intact

import (
	"bufio"
	"errors"
	"io"
)

// checkJSON wants every bracket and string closed. It asks for no more: Python
// writes numbers that JSON has not.
func checkJSON(f file) error {
	in := bufio.NewReader(f.all())
	depth, quoted, escaped, any := 0, false, false, false
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped = c == '\\'
			quoted = c != '"'
		case c == '"':
			quoted, any = true, true
		case c == '{' || c == '[':
			depth++
			any = true
		case c == '}' || c == ']':
			depth--
		case c == 0:
			return incomplete("it holds zero bytes") // space that was reserved
		default:
			any = any || c > ' '
		}
	}
	if depth != 0 || quoted || !any {
		return incomplete("its last bracket is missing")
	}
	return nil
}
