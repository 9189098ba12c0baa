package index

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

// StatementError says what is wrong with a statement of SQL, and where. Its kind is store.ErrInvalid.
type StatementError struct {
	Statement string
	Offset    int // in bytes; -1 = not known
	Reason    string
}

// Line is the line of the statement that holds the place, and the place in it, -1 where that is not known.
func (e *StatementError) Line() (line string, offset int) {
	if e.Offset < 0 || e.Offset > len(e.Statement) {
		return "", -1
	}
	begin := strings.LastIndexByte(e.Statement[:e.Offset], '\n') + 1
	line, _, _ = strings.Cut(e.Statement[begin:], "\n")
	return line, e.Offset - begin
}

// Error shows the line with a caret below the place.
func (e *StatementError) Error() string {
	line, offset := e.Line()
	if offset < 0 {
		return "sql: " + e.Reason
	}
	blank := strings.NewReplacer("\t", " ", "\r", " ")
	return fmt.Sprintf("sql: %s\n  %s\n  %s^", e.Reason, blank.Replace(line), strings.Repeat(" ", utf8.RuneCountInString(line[:offset])))
}

// Unwrap makes it an error of kind store.ErrInvalid.
func (e *StatementError) Unwrap() error { return store.ErrInvalid }

// sqlToken is a word, a string or a sign of a statement.
type sqlToken struct {
	at, end int
	kind    byte // w word or number, ' string, " quoted name, else the sign itself
}

// sqlTokens cuts a statement as SQLite does, without spaces and comments. What is not closed goes on to the end.
func sqlTokens(text string) []sqlToken {
	var list []sqlToken
	for i := 0; i < len(text); {
		at, c := i, text[i]
		switch {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			i++
			continue
		case strings.HasPrefix(text[i:], "--"):
			i = behind(text, i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = behind(text, i+2, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			i = quoted(text, i+1, c)
		case c == '[':
			i, c = behind(text, i, "]"), '"'
		case isWord(c):
			for i < len(text) && isWord(text[i]) {
				i++
			}
			c = 'w'
		default:
			i++
		}
		list = append(list, sqlToken{at, i, c})
	}
	return list
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// behind is the place after the next mark, or the end.
func behind(text string, from int, mark string) int {
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(text)
}

// quoted is the place after the closing mark; two of them stand for one.
func quoted(text string, from int, mark byte) int {
	for i := from; i < len(text); i++ {
		if text[i] != mark {
			continue
		}
		if i+1 < len(text) && text[i+1] == mark {
			i++
			continue
		}
		return i + 1
	}
	return len(text)
}

// writing are the words that begin a statement which does more than ask.
var writing = []string{
	"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "ATTACH", "DETACH", "VACUUM", "REINDEX", "ANALYZE",
	"BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA",
}

const readsOnly = "%s is refused: sql only reads; ask by SELECT, WITH or VALUES (what is recorded is changed by the commands that record)"

// checkStatement sees that a text is one statement that asks, and returns it without what follows: the words of
// EXPLAIN before it, and the rest.
func checkStatement(text string) (explain, statement string, err error) {
	tokens := sqlTokens(text)
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return "", "", &StatementError{Statement: text, Offset: -1, Reason: "there is no statement"}
	}
	for i, t := range tokens {
		if t.kind == ';' {
			return "", "", &StatementError{text, tokens[i+1].at, "one statement at a time"}
		}
	}
	first := tokens[0]
	for _, word := range []string{"EXPLAIN", "QUERY", "PLAN"} {
		if strings.EqualFold(text[first.at:first.end], word) && len(tokens) > 1 {
			explain += word + " "
			tokens = tokens[1:]
			first = tokens[0]
		}
	}
	if first.kind != '(' {
		word := strings.ToUpper(text[first.at:first.end])
		switch {
		case slices.Contains(writing, word):
			return "", "", &StatementError{text, first.at, fmt.Sprintf(readsOnly, word)}
		case !slices.Contains([]string{"SELECT", "WITH", "VALUES"}, word):
			return "", "", &StatementError{text, first.at, "a statement begins with SELECT, WITH or VALUES"}
		}
	}
	return explain, text[first.at:tokens[len(tokens)-1].end], nil
}
