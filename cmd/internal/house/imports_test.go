package house

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// below lists, for each layer, the layers it may import: imports go down only.
var below = map[string][]string{
	"store":    {},
	"tracker":  {"store"},
	"dataset":  {"store", "tracker"},
	"lineage":  {"store", "tracker", "dataset"},
	"runner":   {"store", "tracker"},
	"cmd":      {"store", "tracker", "dataset", "lineage", "runner", "testdata"},
	"testdata": {},
}

// walls names the modules that some layers alone may import, so that they can be replaced in one place. The first
// that fits counts.
var walls = []struct {
	prefix, layers, why string
}{
	{"gocloud.dev", "store", "buckets are reached through store"},
	{"github.com/aws/", "store", "cloud SDKs stay in store"},
	{"cloud.google.com/", "store", "cloud SDKs stay in store"},
	{"google.golang.org/api", "store", "cloud SDKs stay in store"},
	{"github.com/colinmarc/hdfs", "store", "the HDFS client stays in store"},
	{"github.com/apache/arrow", "dataset", "Arrow and Parquet stay in dataset"},
	{"modernc.org/sqlite", "lineage", "SQLite is the index's alone"},
	{"github.com/spf13/", "cmd", "flags are read in cmd"},
	{"flag", "cmd", "flags are read in cmd"},
	{"log/slog", "cmd runner", "only cmd talks to people: return the error instead (runner hands its events to a handler that cmd gives it)"},
	{"log", "cmd", "only cmd talks to people: return the error instead"},
}

func TestImportsGoDown(t *testing.T) {
	for _, s := range tree(t) {
		allowed, known := below[s.layer()]
		if !known {
			t.Errorf("%s: %q is not a layer of the house; add it to the table of layers", s.path, s.layer())
			continue
		}
		for _, target := range s.targets() {
			ours, is := strings.CutPrefix(target, module+"/")
			if !is {
				continue
			}
			layer, _, _ := strings.Cut(ours, "/")
			if layer != s.layer() && !slices.Contains(allowed, layer) {
				t.Errorf("%s imports %s: %s may import only %v", s.path, target, s.layer(), allowed)
			}
		}
	}
}

func TestWalls(t *testing.T) {
	for _, s := range tree(t) {
		for _, target := range s.targets() {
			for _, w := range walls {
				if !within(target, w.prefix) {
					continue
				}
				if !slices.Contains(strings.Fields(w.layers), s.layer()) && !s.test {
					t.Errorf("%s imports %s: %s", s.path, target, w.why)
				}
				break
			}
		}
	}
}

// within reports whether an import path is the prefix or lies below it; a prefix ending in "/" stands for all below.
func within(target, prefix string) bool {
	return target == prefix || strings.HasPrefix(target, strings.TrimSuffix(prefix, "/")+"/")
}

// hidden lists the names by which code reaches the environment or the terminal behind its caller's back.
var hidden = map[string][]string{
	"os":  {"Environ", "Getenv", "LookupEnv", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Args", "Stdin", "Stdout", "Stderr", "Exit"},
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// sdkVariables are read by the cloud SDKs themselves, whatever their callers say: store may look where they look.
var sdkVariables = []string{"STORAGE_EMULATOR_HOST"}

func TestOnlyCommandsSeeTheOutside(t *testing.T) {
	for _, s := range tree(t) {
		if s.layer() == "cmd" || s.test {
			continue
		}
		names := s.names()
		ast.Inspect(s.file, func(n ast.Node) bool {
			if s.layer() == "store" && asksLikeSDK(n) {
				return false
			}
			if what, bad := reachesOut(n, names); bad {
				t.Errorf("%s uses %s: take it as a value from cmd", s.at(n.Pos()), what)
			}
			return true
		})
	}
}

// reachesOut reports whether a node is one of the hidden names, or the builtin print.
func reachesOut(n ast.Node, imports map[string]string) (string, bool) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return "", false
		}
		return id.Name + "." + n.Sel.Name, slices.Contains(hidden[imports[id.Name]], n.Sel.Name)
	case *ast.CallExpr:
		id, ok := n.Fun.(*ast.Ident)
		if !ok {
			return "", false
		}
		return id.Name, id.Name == "print" || id.Name == "println"
	}
	return "", false
}

// asksLikeSDK reports whether a node is a call such as os.Getenv("NAME") with one of sdkVariables.
func asksLikeSDK(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	name, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return false
	}
	text, err := strconv.Unquote(name.Value)
	return err == nil && slices.Contains(sdkVariables, text)
}
