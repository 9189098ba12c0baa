package tracker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// parseFsspec reads TorchX's grammar (torchx/tracker/backend/fsspec.py,
// _read_config): key=value lines, # at the start of a line, dots nest. What
// Python takes by accident is taken too: lines without "=" are nothing.
func parseFsspec(text string) (*pyjson.Object, error) {
	o := &pyjson.Object{}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for line := range strings.SplitAfterSeq(text, "\n") {
		key, value, ok := strings.Cut(line, "=")
		if !ok || key == "" || value == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := putFsspec(o, strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func putFsspec(o *pyjson.Object, key, value string) error {
	first, rest, nested := strings.Cut(key, ".")
	if !nested {
		o.Set(key, value)
		return nil
	}
	if rest == "" {
		return invalid("illegal key %q: it must not end in a dot", key)
	}
	inner, ok := o.Get(first)
	if !ok {
		inner = &pyjson.Object{}
		o.Set(first, inner)
	}
	below, ok := inner.(*pyjson.Object)
	if !ok {
		return invalid("key %q: %s has a value already", key, first)
	}
	return putFsspec(below, rest, value)
}

// addFsspecDefaults sets what the environment says of a protocol, under any of
// its names, where o says nothing (fsspec/config.py): a JSON object in
// FSSPEC_<PROTOCOL>, then single options in FSSPEC_<PROTOCOL>_<OPTION>.
func addFsspecDefaults(o *pyjson.Object, names []string, environ []string) error {
	defaults := &pyjson.Object{}
	for _, name := range names {
		prefix := "FSSPEC_" + strings.ToUpper(name)
		for _, entry := range environ {
			if text, ok := strings.CutPrefix(entry, prefix+"="); ok && text != "" {
				all, err := pyjson.UnmarshalObject([]byte(text))
				if err != nil { // which may hold what was read
					return invalid("%s holds no JSON object", prefix)
				}
				defaults.Merge(all)
			}
		}
		for _, entry := range slices.Sorted(slices.Values(environ)) {
			key, text, _ := strings.Cut(entry, "=")
			if option, ok := strings.CutPrefix(key, prefix+"_"); ok && option != "" && text != "" {
				defaults.Set(strings.ToLower(option), jsonOrText(text))
			}
		}
	}
	for key, value := range defaults.All() {
		if _, said := o.Get(key); !said {
			o.Set(key, value)
		}
	}
	return nil
}

func jsonOrText(text string) any {
	if v, err := pyjson.Unmarshal([]byte(text)); err == nil {
		return v
	}
	return text
}

// flatten turns nested options back into dotted names.
func flatten(o *pyjson.Object, prefix string, options map[string]string) {
	for key, v := range o.All() {
		switch v := v.(type) {
		case nil:
		case string:
			options[prefix+key] = v
		case *pyjson.Object:
			flatten(v, prefix+key+".", options)
		default:
			options[prefix+key] = fmt.Sprint(v)
		}
	}
}
