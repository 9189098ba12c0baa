package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// torchxFile is what TorchX's .torchxconfig files say, by section and key. TorchX reads $HOME/.torchxconfig, then
// ./.torchxconfig, and the first to say something wins; $TORCHXCONFIG stands for both, and empty for none.
type torchxFile struct {
	sections map[string]*torchxSection
}

type torchxSection struct {
	keys   []string // in the order of the files
	values map[string]torchxValue
}

type torchxValue struct{ text, file string }

const torchxFileVariable = "TORCHXCONFIG"

func readTorchXFiles(env map[string]string, dir string) (torchxFile, error) {
	all := torchxFile{sections: map[string]*torchxSection{}}
	if named, ok := env[torchxFileVariable]; ok {
		if named == "" {
			return all, nil
		}
		err := all.read(absolute(named, dir, env["HOME"]))
		if err != nil {
			err = fmt.Errorf("read %s: %w", torchxFileVariable, err)
		}
		return all, err
	}
	for _, place := range []string{env["HOME"], dir} {
		if place == "" {
			continue
		}
		err := all.read(filepath.Join(place, ".torchxconfig"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return all, err
		}
	}
	return all, nil
}

// read takes from one file what no earlier one said. The grammar is that of Python's configparser, without its
// interpolation, for which a single percent sign makes the whole file unreadable: %% is %, others stay.
func (f torchxFile) read(file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var section *torchxSection
	own := map[string]bool{} // the keys of this file's section that are its to continue
	last := ""
	for n, line := range strings.Split(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case line[0] == ' ' || line[0] == '\t':
			if section == nil || last == "" {
				return invalid("read %s:%d: an indented line continues a value, and there is none", file, n+1)
			}
			if own[last] {
				v := section.values[last]
				section.values[last] = torchxValue{v.text + "\n" + percent(text), v.file}
			}
		case text[0] == '[':
			name, rest, ok := strings.Cut(text[1:], "]")
			if !ok || strings.TrimSpace(rest) != "" {
				return invalid("read %s:%d: a section is written [name]", file, n+1)
			}
			section, last, own = f.section(name), "", map[string]bool{}
		case section == nil:
			return invalid("read %s:%d: %q stands before the first [section]", file, n+1, text)
		default:
			last = section.add(text, file, own)
			if last == "" {
				return invalid("read %s:%d: %q is no key = value", file, n+1, text)
			}
		}
	}
	return nil
}

func (f torchxFile) section(name string) *torchxSection {
	if f.sections[name] == nil {
		f.sections[name] = &torchxSection{values: map[string]torchxValue{}}
	}
	return f.sections[name]
}

// add takes "key = value" or "key: value" and gives the key, "" if it is none.
func (s *torchxSection) add(text, file string, own map[string]bool) string {
	cut := strings.IndexAny(text, "=:")
	if cut < 1 {
		return ""
	}
	key := strings.TrimSpace(text[:cut])
	if _, said := s.values[key]; !said {
		s.keys = append(s.keys, key)
		s.values[key] = torchxValue{percent(strings.TrimSpace(text[cut+1:])), file}
		own[key] = true
	}
	return key
}

func percent(text string) string { return strings.ReplaceAll(text, "%%", "%") }

// get is one value, zero if there is none. It may be asked of a section that is not there.
func (f torchxFile) get(section, key string) torchxValue {
	if s := f.sections[section]; s != nil {
		return s.values[key]
	}
	return torchxValue{}
}

// torchxTracker is one of the trackers that TorchX would write to.
type torchxTracker struct {
	name, factory string
	config        string // of the factory
	origin        string // who said config
}

// trackers are those of TORCHX_TRACKERS, else of the section [torchx:tracker], each once. The values of the section name
// the factory, "" the key itself. TORCHX_TRACKER_<NAME>_CONFIG goes before [tracker:<name>] config.
func (f torchxFile) trackers(env map[string]string) []torchxTracker {
	names := strings.Split(env[torchxTrackers], ",")
	if s := f.sections["torchx:tracker"]; env[torchxTrackers] == "" {
		names = nil
		if s != nil {
			names = s.keys
		}
	}
	var list []torchxTracker
	seen := map[string]bool{"": true}
	for _, name := range names {
		t := torchxTracker{name: strings.TrimSpace(name)}
		if seen[t.name] {
			continue
		}
		seen[t.name] = true
		t.factory = cmp.Or(f.get("torchx:tracker", t.name).text, t.name)
		t.origin = "TORCHX_TRACKER_" + strings.ToUpper(t.name) + "_CONFIG"
		if t.config = env[t.origin]; t.config == "" {
			v := f.get("tracker:"+t.name, "config")
			t.config, t.origin = v.text, v.file
		}
		list = append(list, t)
	}
	return list
}

// fsspec says whether the factory is TorchX's own.
func (t torchxTracker) fsspec() bool {
	module, _, _ := strings.Cut(t.factory, ":")
	return t.factory == "fsspec" || module == "torchx.tracker.backend.fsspec"
}
