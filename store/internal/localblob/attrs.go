package localblob

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

const (
	attrName = "user.heirloom.attrs"
	sniffLen = 512 // bytes that http.DetectContentType looks at
)

// attributes are what gocloud keeps beside the bytes. An object with none but defaults stores nothing.
type attributes struct {
	ContentType        string            `json:"content_type,omitempty"` // "" = as found in the first bytes
	CacheControl       string            `json:"cache_control,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// stored returns the encoded form of what differs from the defaults of an object beginning with head, nil for nothing.
func (a attributes) stored(head []byte) []byte {
	if a.ContentType == http.DetectContentType(head) {
		a.ContentType = ""
	}
	data, err := json.Marshal(a)
	if err != nil || string(data) == "{}" { // strings alone cannot fail to encode
		return nil
	}
	return data
}

// setAttributes stores data with the file; nil stores nothing. It is an error where the file system keeps no attributes.
func setAttributes(f *os.File, data []byte) error {
	if data == nil {
		return nil
	}
	if err := setXattr(f, attrName, data); err != nil {
		return fmt.Errorf("store attributes of %s: %w", f.Name(), err)
	}
	return nil
}

// readAttributes returns the attributes of the open object, its content type filled in.
func readAttributes(f *os.File) (attributes, error) {
	var a attributes
	data, err := getXattr(f, attrName)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return a, err
	}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &a); err != nil {
			return a, fmt.Errorf("read attributes of %s: %w", f.Name(), err)
		}
	}
	if a.ContentType == "" {
		head := make([]byte, sniffLen)
		n, err := f.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return a, err
		}
		a.ContentType = http.DetectContentType(head[:n])
	}
	return a, nil
}
