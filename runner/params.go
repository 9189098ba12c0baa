package runner

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// interpreters are the programs whose first argument that is no flag is the
// program, and the flag after which it is given in another way.
var interpreters = pattern.Lazy(`^(python|pypy|node|ruby|perl|julia|bash|dash|zsh|ksh|sh|Rscript)[0-9.]*(\.exe)?$`)

var (
	flagName  = pattern.Lazy(`^--?([A-Za-z_][^=\s]*)$`)
	hydraPair = pattern.Lazy(`^\+{0,2}([A-Za-z_][A-Za-z0-9_./@-]*)=`)
	number    = pattern.Lazy(`^-[0-9.]`)
)

// CommandName is what a job of this command is called if nobody names it. Secrets are
// left out.
func CommandName(args []string) string { return commandName(store.RedactArgs(args)) }

// commandName is what a job is called that nobody named: the program, without
// directory and extension; of an interpreter, its script or module.
func commandName(args []string) string {
	name := args[0]
	if rest, program := program(args); program != "" && len(rest) < len(args)-1 {
		name = program
	}
	name = filepath.Base(filepath.ToSlash(name))
	for _, ext := range []string{".py", ".sh", ".R", ".jl", ".js", ".rb", ".pl", ".exe"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// program splits a command line into the arguments that the program itself sees
// and, behind an interpreter, the script or module, "" for code given in place.
func program(args []string) (rest []string, script string) {
	rest = args[1:]
	if !interpreters().MatchString(filepath.Base(filepath.ToSlash(args[0]))) {
		return rest, ""
	}
	for i, arg := range rest {
		switch {
		case (arg == "-m") && i+1 < len(rest):
			return rest[i+2:], rest[i+1]
		case (arg == "-c" || arg == "-e") && i+1 < len(rest):
			return rest[i+2:], ""
		case !strings.HasPrefix(arg, "-"):
			return rest[i+1:], arg
		}
	}
	return nil, ""
}

// paramsFromArgs reads the flags of a command as parameters:
//
//	--lr=0.1  --lr 0.1  -x 3  lr=0.1 (also +lr, ++lr)     a value
//	--flag    before another flag or at the end           true
//	--data a --data b                                     a list
//
// A value is what JSON makes of it, else text. After a bare -- nothing is read.
// Whether a word after a flag is its value only the program knows: here it is.
func paramsFromArgs(args []string) *pyjson.Object {
	params := &pyjson.Object{}
	rest, _ := program(args)
	seen := map[string]int{}
	for i := 0; i < len(rest) && rest[i] != "--"; i++ {
		name, value, took := param(rest[i:])
		i += took
		if name = clean(name); name == "" {
			continue
		}
		seen[name]++
		switch old, _ := params.Get(name); seen[name] {
		case 1:
			params.Set(name, value)
		case 2:
			params.Set(name, []any{old, value})
		default:
			params.Set(name, append(old.([]any), value))
		}
	}
	return params
}

// param reads one parameter at the head of args, "" if there is none, and says
// how many more arguments than one it took.
func param(args []string) (name string, value any, took int) {
	arg := args[0]
	if m := hydraPair().FindStringSubmatch(arg); m != nil {
		return m[1], typed(arg[len(m[0]):]), 0
	}
	head, text, hasValue := strings.Cut(arg, "=")
	m := flagName().FindStringSubmatch(head)
	switch {
	case m == nil:
		return "", nil, 0
	case hasValue:
		return m[1], typed(text), 0
	case len(args) > 1 && isValue(args[1]):
		return m[1], typed(args[1]), 1
	}
	return m[1], true, 0
}

func isValue(arg string) bool {
	return !strings.HasPrefix(arg, "-") && !hydraPair().MatchString(arg) || number().MatchString(arg) || arg == "-"
}

// typed is what JSON makes of text, else the text.
func typed(text string) any {
	if json.Valid([]byte(text)) {
		if v, err := pyjson.Unmarshal([]byte(text)); err == nil {
			return v
		}
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// clean refuses a name that would not serve as a key.
func clean(name string) string {
	if len(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

// params gives all parameters of the job; args are its arguments, redacted.
func (r *run) params(args []string) *pyjson.Object {
	params := redacted(r.job.Params)
	if r.job.ParamsFromArgs {
		params.Merge(paramsFromArgs(args))
	}
	return params
}

// redacted is a copy of o, names joined by dots, without the values of what is a
// secret by its name or looks.
func redacted(o *pyjson.Object) *pyjson.Object {
	flat := &pyjson.Object{}
	addFlat(flat, "", o)
	for _, key := range flat.Keys() {
		v, _ := flat.Get(key)
		flat.Set(key, redactedValue(key, v))
	}
	return flat
}

// redactedValue is v, of a parameter that is called key. Its own name is the last
// part of key; those before may tell more about it, as in api.key.
func redactedValue(key string, v any) any {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = redactedValue(key, item)
		}
		return list
	case *pyjson.Object:
		o := &pyjson.Object{}
		for k, item := range v.All() {
			o.Set(k, redactedValue(key+"."+k, item))
		}
		return o
	case bool, nil:
		return v
	default:
		text = fmt.Sprint(v)
	}
	parts := strings.Split(key, ".")
	for _, name := range []string{parts[len(parts)-1], strings.Join(parts[max(0, len(parts)-2):], ".")} {
		pair := store.RedactArgs([]string{"--" + name + "=" + text})
		if _, after, _ := strings.Cut(pair[0], "="); after != text {
			return after
		}
	}
	return v
}

// addFlat sets the members of o in m under a prefix, those of nested objects
// under their names joined by dots.
func addFlat(m *pyjson.Object, prefix string, o *pyjson.Object) {
	for key, value := range o.All() {
		if nested, ok := value.(*pyjson.Object); ok && nested.Len() > 0 {
			addFlat(m, prefix+key+".", nested)
			continue
		}
		m.Set(prefix+key, value)
	}
}
