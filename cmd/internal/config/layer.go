package config

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// layer is what one level says.
type layer struct {
	values map[string]Value
	file   string // the configuration file it was read from; "" = none
	others []OtherTracker
}

func (l *layer) set(level Level, place, key, text string) {
	if l.values == nil {
		l.values = map[string]Value{}
	}
	if text != "" {
		l.values[key] = Value{Key: key, Text: text, Origin: Origin{Level: level, Place: place}}
	}
}

func flagLayer(in Input) layer {
	var l layer
	for key, text := range in.Flags {
		l.set(LevelFlag, "--"+strings.ReplaceAll(key, "_", "-"), key, located(key, text, in.Dir, ""))
	}
	return l
}

func environLayer(in Input, env map[string]string) layer {
	var l layer
	for _, s := range settings() {
		l.set(LevelEnviron, s.environ, s.key, located(s.key, env[s.environ], in.Dir, env["HOME"]))
	}
	return l
}

func projectLayer(found project, home string) (layer, error) {
	var l layer
	if found.file != "" {
		var err error
		if l, err = fileLayer(LevelProject, found.file, home); err != nil {
			return layer{}, err
		}
	}
	_, hasStore := l.values[Store]
	_, hasTracker := l.values[Tracker]
	if found.dirWins() || !hasStore && !hasTracker {
		delete(l.values, Tracker)
		l.set(LevelProject, found.storeDir, Store, found.storeDir)
	}
	return l, nil
}

// userFile is the user's own file, "" where there is no place for it.
func userFile(env map[string]string) string {
	dir := env["XDG_CONFIG_HOME"]
	if dir == "" && env["HOME"] != "" {
		dir = filepath.Join(env["HOME"], ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "heirloom", "config.toml")
}

func userLayer(env map[string]string) (layer, error) {
	file := userFile(env)
	if file == "" {
		return layer{}, nil
	}
	l, err := fileLayer(LevelUser, file, env["HOME"])
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return layer{}, nil
	}
	return l, err
}

func fileLayer(level Level, path, home string) (layer, error) {
	texts, err := readFile(path, home)
	if err != nil {
		return layer{}, err
	}
	l := layer{file: path}
	for key, text := range texts {
		l.set(level, path, key, text)
	}
	return l, nil
}

// defaultLayer puts a new store beside the project's file, so that its subdirectories share one; else here.
func defaultLayer(in Input, found project) layer {
	var l layer
	for _, s := range settings() {
		l.set(LevelDefault, "", s.key, s.fallback)
	}
	root := in.Dir
	if found.file != "" {
		root = filepath.Dir(found.file)
	}
	l.set(LevelDefault, "", Store, cmp.Or(found.storeDir, filepath.Join(root, dotName)))
	return l
}

// located makes the keys that name a place absolute.
func located(key, text, dir, home string) string {
	if key == Store || key == Tracker {
		return absolute(text, dir, home)
	}
	return text
}

// environment turns "NAME=value" into a map; the last one of a name wins, as in exec.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}
