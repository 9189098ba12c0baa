package localblob

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
)

const sniffLen = 512 // bytes that http.DetectContentType looks at

// setAttributes stores what differs from the defaults of a file beginning with head, often nothing. It is an error
// where the file system keeps no attributes.
func setAttributes(f *os.File, set attrs.Set, head []byte) error {
	if set.IsZero() {
		return nil
	}
	data := set.Encode(http.DetectContentType(head))
	if data == nil {
		return nil
	}
	if err := setXattr(f, attrs.Name, data); err != nil {
		return fmt.Errorf("store attributes of %s: %w", f.Name(), err)
	}
	return nil
}

// readAttributes returns the attributes of the open object; a content type that is not stored is as found in the first bytes.
func readAttributes(f *os.File) (attrs.Set, error) {
	data, err := getXattr(f, attrs.Name)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return attrs.Set{}, err
	}
	set, err := attrs.Decode(data)
	if err != nil {
		return set, fmt.Errorf("read attributes of %s: %w", f.Name(), err)
	}
	if set.ContentType == "" {
		head := make([]byte, sniffLen)
		n, err := f.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return set, err
		}
		set.ContentType = http.DetectContentType(head[:n])
	}
	return set, nil
}
