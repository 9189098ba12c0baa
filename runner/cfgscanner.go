package runner

import (
	"fmt"
	"strings"
)

const (
	blanks     = " \t\r\n"
	delimiters = ",;"
)

// cfgScanner reads options as the command line has them; rest is what is left.
type cfgScanner struct{ rest string }

// delim takes a delimiter with the blanks behind it, if one comes next.
func (c *cfgScanner) delim() string {
	if c.rest == "" || !strings.Contains(delimiters, c.rest[:1]) {
		return ""
	}
	n := 1
	for n < len(c.rest) && strings.Contains(blanks, c.rest[n:n+1]) {
		n++
	}
	delim := c.rest[:n]
	c.rest = c.rest[n:]
	return delim
}

// key takes a key with its "=", if one comes next.
func (c *cfgScanner) key() (string, bool) {
	key, rest, ok := strings.Cut(c.rest, "=")
	if key = strings.Trim(key, blanks); !ok || !isOptionName(key) {
		return "", false
	}
	c.rest = rest
	return key, true
}

// item takes an item up to the next delimiter or the end.
func (c *cfgScanner) item() (item cfgItem, err error) {
	before := c.rest
	item.key, item.quoted, err = c.word(delimiters + ":")
	if err != nil {
		return cfgItem{}, err
	}
	item.text = item.key
	if strings.HasPrefix(c.rest, ":") {
		c.rest, item.isPair, item.quoted = c.rest[1:], true, false
		if item.value, _, err = c.word(delimiters); err != nil {
			return cfgItem{}, err
		}
	}
	item.raw = strings.Trim(before[:len(before)-len(c.rest)], blanks)
	if !item.quoted {
		item.text = item.raw
	}
	return item, nil
}

// word takes text up to one of the stops: what is in quotes, if it begins with
// one, else all, without the blanks around it.
func (c *cfgScanner) word(stops string) (text string, quoted bool, err error) {
	c.rest = strings.TrimLeft(c.rest, blanks)
	if c.rest == "" || c.rest[0] != '\'' && c.rest[0] != '"' {
		end := strings.IndexAny(c.rest, stops)
		if end < 0 {
			end = len(c.rest)
		}
		text, c.rest = strings.TrimRight(c.rest[:end], blanks), c.rest[end:]
		return text, false, nil
	}
	if text, err = c.quoted(); err != nil {
		return "", false, err
	}
	c.rest = strings.TrimLeft(c.rest, blanks)
	if c.rest != "" && !strings.Contains(stops, c.rest[:1]) {
		return "", false, fmt.Errorf("after the quote that closes comes %q, not a delimiter", c.rest[:1])
	}
	return text, true, nil
}

// quoted takes a text in quotes and gives what is in them.
func (c *cfgScanner) quoted() (string, error) {
	var b strings.Builder
	s := c.rest
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			c.rest = s[i+1:]
			return b.String(), nil
		case s[0] == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", fmt.Errorf("a %c that opens a quote is not closed", s[0])
}
