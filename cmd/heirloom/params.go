package main

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// readParams reads a file of parameters: TOML if its name ends in .toml, else JSON, an object at the top.
// Errors: store.ErrInvalid naming the file, or what reading it gave.
func readParams(path string) (*pyjson.Object, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	object, err := decodeParams(strings.ToLower(filepath.Ext(path)), body)
	if err != nil {
		return nil, invalidf("read parameters from %s: %v", path, err)
	}
	return object, nil
}

func decodeParams(extension string, body []byte) (*pyjson.Object, error) {
	switch extension {
	case ".toml":
		var table map[string]any
		if err := toml.Unmarshal(body, &table); err != nil {
			return nil, err
		}
		return ordered(table), nil
	case ".yaml", ".yml":
		return nil, errors.New("YAML is not read, JSON and TOML are")
	}
	return pyjson.UnmarshalObject(body)
}

// ordered turns a TOML table into an object with sorted keys. Dates and times become text.
func ordered(table map[string]any) *pyjson.Object {
	object := &pyjson.Object{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		object.Set(key, plain(table[key]))
	}
	return object
}

func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return ordered(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case bool, int64, float64, string, *big.Int:
		return v
	}
	return fmt.Sprint(value)
}
