package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	metadataDir    = "metadata"
	artifactsDir   = "artifacts"
	sourcesDir     = "sources"
	descendantsDir = "descendants"
	heirloomDir    = "heirloom"
	linksDir       = "links"
	attemptsDir    = "attempts"
)

// AddMetadata writes one record with all of m, in one request. A nil m is an
// empty one. Secrets under KeyCommand and KeyGitRemote are redacted.
func (t *FileTracker) AddMetadata(ctx context.Context, run RunID, m *Metadata) error {
	if m == nil {
		m = &Metadata{}
	}
	body, err := pyjson.Marshal(pyjson.NewObject(pyjson.Member{Key: "metadata", Value: redactKnown(m)}))
	if err == nil {
		err = t.putRecord(ctx, run, metadataDir, body)
	}
	if err != nil {
		return fmt.Errorf("add metadata to %s: %w", printable(string(run)), err)
	}
	return nil
}

// AddArtifact writes one record, in one request. Of a path that is a URL with a
// user or a query, secrets are redacted.
func (t *FileTracker) AddArtifact(ctx context.Context, run RunID, a Artifact) error {
	err := checkArtifactName(a.Name, maxArtifactBytes)
	var body []byte
	if err == nil {
		a.Name, a.Path = redactPlace(a.Name), redactPlace(a.Path)
		body, err = a.body()
	}
	if err == nil {
		err = t.putRecord(ctx, run, artifactsDir, body)
	}
	if err != nil {
		return fmt.Errorf("add artifact to %s: %w", printable(string(run)), err)
	}
	return nil
}

// putRecord writes under a name that nobody else uses, so that nothing is
// replaced and a repeated request does no harm.
func (t *FileTracker) putRecord(ctx context.Context, run RunID, category string, body []byte) error {
	if err := t.mayWrite(ctx, run); err != nil {
		return err
	}
	name, err := t.recordName()
	if err != nil {
		return err
	}
	if err := t.s.Put(ctx, run.dir().Join(category, name), body); err != nil {
		return err
	}
	t.opts.Wrote(run)
	return nil
}

func (t *FileTracker) mayWrite(ctx context.Context, run RunID) error {
	if _, err := ParseRunID(string(run)); err != nil {
		return err
	}
	return t.writable(ctx)
}

func (t *FileTracker) mayRead(ctx context.Context, run RunID) error {
	if _, err := ParseRunID(string(run)); err != nil {
		return err
	}
	return t.readable(ctx)
}

// parseMetadata reads the body of a record.
func parseMetadata(body []byte) (*Metadata, error) {
	o, err := pyjson.UnmarshalObject(body)
	if err != nil {
		return nil, err
	}
	v, _ := o.Get("metadata")
	m, ok := v.(*Metadata)
	if !ok {
		return nil, errors.New(`no object "metadata"`)
	}
	return m, nil
}

// redactKnown returns m, or a copy of it where heirloom's own keys hold a
// command line or a URL. Other values are the user's.
func redactKnown(m *Metadata) *Metadata {
	if command, ok := textList(m, KeyCommand); ok {
		m = m.Clone()
		list := make([]any, len(command))
		for i, arg := range store.RedactArgs(command) {
			list[i] = strings.ToValidUTF8(arg, "\ufffd")
		}
		m.Set(KeyCommand, list)
	}
	if remote := m.Text(KeyGitRemote); remote != "" {
		m = m.Clone()
		m.Set(KeyGitRemote, store.RedactURL(remote))
	}
	return m
}

// textList is the value of key if it is a list of strings alone.
func textList(m *Metadata, key string) ([]string, bool) {
	v, _ := m.Get(key)
	list, ok := v.([]any)
	texts := make([]string, len(list))
	for i, item := range list {
		text, isText := item.(string)
		texts[i], ok = text, ok && isText
	}
	return texts, ok
}
