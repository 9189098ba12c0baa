package index

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// FuzzStatement sees that no text makes the reader of statements fail, and that what it lets through begins as a
// statement that asks.
func FuzzStatement(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1", "SELECT ';' ; -- x", "EXPLAIN QUERY PLAN SELECT 1;", "/* a", "'", "[a;b] ;", "((SELECT 1))", "WITH a AS (VALUES (1)) SELECT \"x;\"\"y\" FROM a", "insert", "é;é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, token := range sqlTokens(text) {
			if token.at < last || token.end <= token.at || token.end > len(text) {
				t.Fatalf("token %+v of %q after %d", token, text, last)
			}
			last = token.end
		}
		_, statement, err := checkStatement(text)
		if err != nil {
			if !errors.Is(err, store.ErrInvalid) || !strings.HasPrefix(err.Error(), "sql: ") {
				t.Errorf("%q is refused with %v", text, err)
			}
			return
		}
		first := sqlTokens(statement)[0]
		if word := strings.ToUpper(statement[first.at:first.end]); !slices.Contains([]string{"SELECT", "WITH", "VALUES", "("}, word) {
			t.Errorf("%q is let through as %q", text, statement)
		}
		for _, token := range sqlTokens(statement) {
			if token.kind == ';' {
				t.Errorf("%q is let through with two statements", text)
			}
		}
	})
}
