package openlineage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Lines writes one event a line.
type Lines struct{ W io.Writer }

// Send writes one event.
func (l Lines) Send(_ context.Context, e *Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	_, err = l.W.Write(append(body, '\n'))
	return err
}

// Files writes events to a local file: to the end of it, one a line, or each to one of its own, as Transport.Append says.
type Files struct {
	Path   string
	Append bool
	Now    func() time.Time // for the names of files
	n      int
}

// Send writes one event, which is on the disk when it returns.
func (f *Files) Send(_ context.Context, e *Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	path, flags := f.Path, os.O_WRONLY|os.O_CREATE|os.O_APPEND
	if !f.Append {
		f.n++
		path, flags = fmt.Sprintf("%s-%s", f.Path, f.Now().UTC().Format("20060102-150405.000000")), os.O_WRONLY|os.O_CREATE|os.O_EXCL
		if f.n > 1 {
			path += fmt.Sprintf("-%d", f.n)
		}
		if !strings.HasSuffix(path, ".json") {
			path += ".json"
		}
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	_, err = file.Write(append(body, '\n'))
	if syncErr := file.Sync(); err == nil {
		err = syncErr
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// New is the sender that a transport means; out is where the console is.
func New(t Transport, out io.Writer, now func() time.Time) (Sender, error) {
	switch {
	case t.File != "":
		return &Files{Path: t.File, Append: t.Append, Now: now}, nil
	case t.URL != "":
		return NewHTTP(t)
	}
	return Lines{W: out}, nil
}
