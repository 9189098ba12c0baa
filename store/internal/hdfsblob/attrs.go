package hdfsblob

import (
	"encoding/json"
	"fmt"

	"gocloud.dev/blob/driver"
)

const (
	attrName    = "user.heirloom.attrs"
	defaultType = "application/octet-stream"
)

// attributes are what gocloud keeps beside the bytes, in one extended attribute. An object that package store wrote
// has none.
type attributes struct {
	ContentType        string            `json:"content_type,omitempty"`
	CacheControl       string            `json:"cache_control,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// stored is the encoded form of what differs from the defaults, nil for nothing.
func (a attributes) stored() map[string]string {
	if a.ContentType == defaultType {
		a.ContentType = ""
	}
	data, err := json.Marshal(a)
	if err != nil || string(data) == "{}" { // strings alone cannot fail to encode
		return nil
	}
	return map[string]string{attrName: string(data)}
}

func parseAttributes(stored map[string]string) (attributes, error) {
	a := attributes{ContentType: defaultType}
	if text := stored[attrName]; text != "" {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return a, fmt.Errorf("%w: attributes: %w", ErrCorrupt, err)
		}
	}
	return a, nil
}

func newAttributes(contentType string, opts *driver.WriterOptions) attributes {
	return attributes{
		ContentType:        contentType,
		CacheControl:       opts.CacheControl,
		ContentDisposition: opts.ContentDisposition,
		ContentEncoding:    opts.ContentEncoding,
		ContentLanguage:    opts.ContentLanguage,
		Metadata:           opts.Metadata,
	}
}

// attributes gives the extended attribute that holds them, if it is set.
func (c *client) attributes(path string) (map[string]string, error) {
	names, err := c.ListXAttrs(path)
	if err != nil {
		return nil, err
	}
	if _, ok := names[attrName]; !ok {
		return nil, nil
	}
	return c.GetXAttrs(path, attrName)
}
