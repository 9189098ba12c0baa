package runner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table in the documentation has a row for each name of TorchX, and each Go name
// that it claims is there.
func TestTorchXTableIsComplete(t *testing.T) {
	rows := tableOf(t, "../docs/torchx.md")
	ours := exported(t, ".", "")
	for name := range exported(t, "../tracker", "tracker.") {
		ours[name] = true
	}
	told := map[string]bool{}
	for _, row := range rows {
		for _, name := range row.theirs {
			if told[name] {
				t.Errorf("%s has two rows", name)
			}
			told[name] = true
		}
		for _, name := range row.ours {
			if !ours[name] && !strings.HasPrefix(name, "fmt.") {
				t.Errorf("%s is said to be %s, which does not exist", row.theirs, name)
			}
		}
		if len(row.ours) == 0 && row.why == "" {
			t.Errorf("%s is left out without a reason", row.theirs)
		}
	}
	var theirs []string
	askTorchX(t).ask("names", nil).into(t, &theirs)
	if len(theirs) < 200 {
		t.Errorf("TorchX has only %d names", len(theirs))
	}
	for _, name := range theirs {
		if !told[name] {
			t.Errorf("%s has no row in docs/torchx.md", name)
		}
	}
}

type tableRow struct {
	theirs, ours []string
	why          string
}

func tableOf(t *testing.T, file string) []tableRow {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	names := func(cell string) (list []string) {
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			list = append(list, m[1])
		}
		return list
	}
	var rows []tableRow
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 5 && strings.Contains(cells[1], "`") {
			rows = append(rows, tableRow{names(cells[1]), names(cells[2]), strings.TrimSpace(cells[3])})
		}
	}
	return rows
}

// exported lists what a package has: types, their fields and methods, functions and
// constants.
func exported(t *testing.T, dir, prefix string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			for _, name := range declared(decl) {
				names[prefix+name] = true
			}
		}
	}
	return names
}

func declared(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		return []string{receiver.(*ast.Ident).Name + "." + d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
				for _, member := range members(s.Type) {
					names = append(names, s.Name.Name+"."+member)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !ast.IsExported(name) })
}

func members(typ ast.Expr) (names []string) {
	var fields *ast.FieldList
	switch t := typ.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, field := range fields.List {
		for _, id := range field.Names {
			names = append(names, id.Name)
		}
	}
	return names
}
