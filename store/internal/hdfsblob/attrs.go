package hdfsblob

import (
	"cmp"
	"fmt"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const defaultType = "application/octet-stream"

// storedAttributes are the extended attributes that hold the set, nil for defaults alone, as in all that package store
// writes.
func storedAttributes(set attrs.Set) map[string]string {
	data := set.Encode(defaultType)
	if data == nil {
		return nil
	}
	return map[string]string{attrs.Name: string(data)}
}

func parseAttributes(stored map[string]string) (attrs.Set, error) {
	set, err := attrs.Decode([]byte(stored[attrs.Name]))
	if err != nil {
		return set, fmt.Errorf("%w: attributes: %w", dirtree.ErrCorrupt, err)
	}
	set.ContentType = cmp.Or(set.ContentType, defaultType)
	return set, nil
}

// attributes gives the extended attribute that holds them, if it is set.
func (c *client) attributes(path string) (map[string]string, error) {
	names, err := c.ListXAttrs(path)
	if err != nil {
		return nil, err
	}
	if _, ok := names[attrs.Name]; !ok {
		return nil, nil
	}
	return c.GetXAttrs(path, attrs.Name)
}
