package checkpoint

import (
	"archive/zip"
	"errors"
	"io"
	"slices"
	"strings"
)

// extents looks through the metadata of torch.distributed.checkpoint for its _StorageInfo: how far each file must
// reach, in bytes, by its name.
func extents(r io.Reader) (map[string]int64, error) {
	p := newPickle(r)
	found := map[string]int64{}
	name := ""
	var offset int64
	key := ""
	for {
		t, err := p.next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case key == "relative_path" && t.kind == text:
			name, offset = t.text, 0
			found[name] = max(found[name], 0)
		case key == "offset" && t.kind == integer:
			offset = t.n
		case key == "length" && t.kind == integer && name != "":
			found[name] = max(found[name], offset+t.n)
		}
		if key = ""; t.kind == text {
			key = t.text
		}
	}
}

// settings looks through a pickle for numbers and truths that follow a string of one of these names, as the values of
// a dictionary do. The first of each counts.
func settings(r io.Reader, names ...string) (map[string]int64, error) {
	p := newPickle(r)
	found := map[string]int64{}
	key := ""
	for len(found) < len(names) {
		t, err := p.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		if _, known := found[key]; !known && slices.Contains(names, key) && (t.kind == integer || t.kind == boolean) {
			found[key] = t.n
		}
		if key = ""; t.kind == text {
			key = t.text
		}
	}
	return found, nil
}

// torchSettings is settings for a file that torch.save wrote: a zip file with a pickle in it.
func torchSettings(o *object, names ...string) (map[string]int64, error) {
	archive, err := zip.NewReader(o, o.Size)
	if err != nil {
		return nil, zipReason(o, err)
	}
	for _, entry := range archive.File {
		if !strings.HasSuffix(entry.Name, "/data.pkl") && entry.Name != "data.pkl" {
			continue
		}
		body, err := entry.Open()
		if err != nil {
			return nil, zipReason(o, err)
		}
		found, err := settings(io.LimitReader(body, maxText), names...)
		_ = body.Close() // nothing was written
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errPickle) {
			return nil, zipReason(o, err)
		}
		return found, nil
	}
	return nil, nil
}

// zipReason is a reason for a broken archive, and the error of the store for what could not be read.
func zipReason(o *object, err error) error {
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return notWhole("%s: %v", o.Key.Base(), err)
	}
	return err
}
