package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestJSONIsDocumented holds docs/json.md complete: every field that a command's own documents have is named there.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, s := range tree(t) {
		if s.dir() != "cmd/heirloom" && s.dir() != "cmd/internal/render" && s.dir() != "cmd/internal/progress" || s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			name := jsonName(field.Tag.Value)
			if name == "" {
				return true
			}
			seen++
			// As the last part of a path in backquotes: `name`, `list[].name[]`, `name.*`.
			path := regexp.MustCompile("`(?:[a-z_\\[\\]]+\\.)*" + regexp.QuoteMeta(name) + "(?:\\[\\]|\\.\\*)?(?:\\.[a-z_\\[\\].]+)?`")
			if !path.Match(page) {
				t.Errorf("%s: the field %q is not in docs/json.md", s.at(field.Pos()), name)
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("no field found: the rule looks in the wrong place")
	}
}

// jsonName is the name that a struct tag gives a field in JSON, "" if none.
func jsonName(tag string) string {
	text, err := strconv.Unquote(tag)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}
