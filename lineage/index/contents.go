package index

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Contents lists all names of the bytes with a digest, as lineage.SortContents orders them. None is no error.
func (x *Index) Contents(ctx context.Context, digest store.Digest) ([]lineage.Content, error) {
	list, err := x.contents(ctx, string(digest))
	if err != nil {
		return nil, fmt.Errorf("ask index for contents: %w", err)
	}
	lineage.SortContents(list)
	return list, nil
}

// MayHold reports whether some run recorded an artifact or input with a digest that may be of so many bytes: of artifacts
// the size is known, of inputs it is not.
func (x *Index) MayHold(ctx context.Context, size int64) (bool, error) {
	var may bool
	err := x.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM artifact WHERE sha256 IS NOT NULL AND (size_bytes = ? OR size_bytes IS NULL))
		OR EXISTS (SELECT 1 FROM link WHERE digest <> '' AND role = 'input')`, size).Scan(&may)
	if err != nil {
		return false, fmt.Errorf("ask index for sizes: %w", err)
	}
	return may, nil
}

// contents lists the names of all digests that begin with some digits.
func (x *Index) contents(ctx context.Context, digits string) ([]lineage.Content, error) {
	list, err := x.artifactContents(ctx, digits)
	if err != nil {
		return nil, err
	}
	for _, prefix := range []string{"", "sha256:"} {
		inputs, err := x.inputContents(ctx, prefix+digits)
		if err != nil {
			return nil, err
		}
		list = append(list, inputs...)
	}
	return list, nil
}

func (x *Index) artifactContents(ctx context.Context, digits string) ([]lineage.Content, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT id, artifact.name, path, coalesce(kind, ''), sha256, coalesce(size_bytes, -1), started
		FROM artifact JOIN node ON node.n = artifact.run JOIN run ON run.n = artifact.run
		WHERE sha256 IS NOT NULL AND sha256 >= ? AND sha256 < ?`, digits, above(digits))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []lineage.Content
	for rows.Next() {
		var c lineage.Content
		var started sql.NullInt64
		if err := rows.Scan(&c.Run, &c.Artifact, &c.Path, &c.Kind, &c.SHA256, &c.Size, &started); err != nil {
			return nil, err
		}
		if started.Valid {
			c.Started = time.Unix(0, started.Int64).UTC()
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// inputContents lists the inputs that runs used with a digest, by the beginning of it as it was recorded.
func (x *Index) inputContents(ctx context.Context, start string) ([]lineage.Content, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT source.id, uri, digest, user.id FROM link
		JOIN node AS source ON source.n = link.source JOIN node AS user ON user.n = link.run
		WHERE digest <> '' AND digest >= ? AND digest < ? AND NOT EXISTS (SELECT 1 FROM run WHERE run.n = link.source)
		ORDER BY source.id, digest, user.id`, start, above(start))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []lineage.Content
	for rows.Next() {
		c := lineage.Content{Size: -1}
		var digest string
		var user tracker.RunID
		if err := rows.Scan(&c.Input, &c.Path, &digest, &user); err != nil {
			return nil, err
		}
		var whole bool
		if c.SHA256, whole = lineage.ReadDigest(digest); !whole {
			continue
		}
		if n := len(list) - 1; n < 0 || list[n].Input != c.Input || list[n].SHA256 != c.SHA256 {
			list = append(list, c)
		}
		last := &list[len(list)-1]
		last.UsedBy = append(last.UsedBy, user)
	}
	return list, rows.Err()
}

// above is the least text behind all that begin with start and hexadecimal digits.
func above(start string) string { return start + "g" }

// Digests lists the digests of artifacts and inputs that begin with some digits, sorted.
func (x *Index) Digests(ctx context.Context, digits string) ([]store.Digest, error) {
	list, err := x.contents(ctx, digits)
	if err != nil {
		return nil, fmt.Errorf("ask index for contents: %w", err)
	}
	return digestsOf(list), nil
}

// DigestsAt lists the digests that were recorded of what lay at a path or URI in canonical form, sorted.
func (x *Index) DigestsAt(ctx context.Context, uri string) ([]store.Digest, error) {
	texts, err := x.texts(ctx, `SELECT sha256 FROM artifact WHERE path = ? AND sha256 IS NOT NULL
		UNION SELECT digest FROM link WHERE uri = ? AND uri <> '' AND digest <> ''`, uri, uri)
	if err != nil {
		return nil, fmt.Errorf("ask index for contents: %w", err)
	}
	var list []lineage.Content
	for _, text := range texts {
		if d, ok := lineage.ReadDigest(text); ok {
			list = append(list, lineage.Content{SHA256: d})
		}
	}
	return digestsOf(list), nil
}

func digestsOf(list []lineage.Content) []store.Digest {
	var digests []store.Digest
	for _, c := range list {
		digests = append(digests, c.SHA256)
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}
