// Package attrs is the set of attributes that gocloud keeps beside the bytes of an object, and its stored form.
package attrs

import (
	"encoding/json"
	"time"

	"gocloud.dev/blob/driver"
)

// Name is that of the extended attribute which holds the stored form.
const Name = "user.heirloom.attrs"

// Set holds "" or nil for what has its default.
type Set struct {
	ContentType        string            `json:"content_type,omitempty"`
	CacheControl       string            `json:"cache_control,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// New is the set that opts ask for.
func New(contentType string, opts *driver.WriterOptions) Set {
	return Set{
		ContentType:        contentType,
		CacheControl:       opts.CacheControl,
		ContentDisposition: opts.ContentDisposition,
		ContentEncoding:    opts.ContentEncoding,
		ContentLanguage:    opts.ContentLanguage,
		Metadata:           opts.Metadata,
	}
}

// IsZero says that all is as by default.
func (s Set) IsZero() bool {
	return s.ContentType == "" && s.CacheControl == "" && s.ContentDisposition == "" && s.ContentEncoding == "" &&
		s.ContentLanguage == "" && len(s.Metadata) == 0
}

// Encode returns the stored form, JSON, of what differs from the defaults; nil for nothing.
func (s Set) Encode(defaultType string) []byte {
	if s.ContentType == defaultType {
		s.ContentType = ""
	}
	data, err := json.Marshal(s)
	if err != nil || string(data) == "{}" { // strings alone cannot fail to encode
		return nil
	}
	return data
}

// Decode reverses Encode; a content type that is not stored is "".
func Decode(data []byte) (s Set, err error) {
	if len(data) > 0 {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// Driver gives the set to gocloud, with the facts about one version of the object. There is no MD5.
func (s Set) Driver(modified time.Time, size int64, version string) *driver.Attributes {
	return &driver.Attributes{
		CacheControl:       s.CacheControl,
		ContentDisposition: s.ContentDisposition,
		ContentEncoding:    s.ContentEncoding,
		ContentLanguage:    s.ContentLanguage,
		ContentType:        s.ContentType,
		Metadata:           s.Metadata,
		ModTime:            modified,
		Size:               size,
		ETag:               `"` + version + `"`,
	}
}
