package house

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxLines is the size beyond which a file holds more than one thing.
const maxLines = 400

// vague are names that say nothing of what a package holds.
var vague = []string{"util", "utils", "common", "types", "helper", "helpers", "misc", "base", "shared"}

func TestOnePackageComment(t *testing.T) {
	byDir, dirs := packages(tree(t))
	for _, dir := range dirs {
		var holders []string
		for _, s := range byDir[dir] {
			if s.file.Doc == nil {
				continue
			}
			holders = append(holders, s.path)
			if text := s.file.Doc.Text(); !opens(text, s.file.Name.Name) {
				t.Errorf("%s: the package comment begins %.40q, not with the package's name", s.path, text)
			}
		}
		if len(holders) != 1 {
			t.Errorf("%s: %d package comments %v, want one", dir, len(holders), holders)
		}
	}
}

// opens reports whether a package comment begins as go doc expects.
func opens(text, pkg string) bool {
	if pkg == "main" {
		return strings.HasPrefix(text, "Command ") || strings.HasPrefix(text, "Heirloom ")
	}
	return strings.HasPrefix(text, "Package "+pkg+" ")
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range tree(t) {
		if s.size > maxLines && !ast.IsGenerated(s.file) {
			t.Errorf("%s has %d lines, more than %d: give each type or verb a file", s.path, s.size, maxLines)
		}
	}
}

func TestPackageNamesSaySomething(t *testing.T) {
	for _, s := range tree(t) {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(s.dir())) {
			t.Errorf("%s is in package %s: name it after what it holds", s.path, name)
		}
	}
}

// An init function runs before main in every command, also in those that do not need it, and in no visible order.
func TestNothingRunsAtStart(t *testing.T) {
	for _, s := range tree(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !s.test {
				t.Errorf("%s: init function; do it where it is needed", s.at(f.Pos()))
			}
			if g, ok := d.(*ast.GenDecl); ok && !s.test && compiles(g) {
				t.Errorf("%s: a regular expression is compiled at start; write pattern.Lazy", s.at(g.Pos()))
			}
		}
	}
}

// compiles reports whether a declaration holds a regular expression, outside of functions.
func compiles(d *ast.GenDecl) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "MustCompile" {
			found = true
		}
		_, later := n.(*ast.FuncLit)
		return !later
	})
	return found
}
