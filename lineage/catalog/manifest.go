package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// format is that of manifests and tables. A reader refuses a higher one. A column or table more is no new format.
const format = 1

// Manifest is one version of a catalog.
type Manifest struct {
	Version   int       `json:"version"` // of this format: 1
	Number    int64     `json:"number"`  // from 1
	Published time.Time `json:"published"`
	AsOf      time.Time `json:"as_of"` // all that was written before is in it
	Writer    string    `json:"writer"`
	Content   string    `json:"content"` // digest of what was published
	// AncestryDepth is up to which depth the table ancestry goes; 0 = there are no further ancestors.
	AncestryDepth int         `json:"ancestry_depth"`
	Tables        []TableFile `json:"tables"`
	Index         IndexState  `json:"index"`
	// Reclaimed is when the version was taken for one that is never finished; nil = it was not. Then it has no tables.
	Reclaimed *time.Time `json:"reclaimed,omitempty"`
}

// TableFile is one table of a version. The name of the file is below the directory of all versions.
type TableFile struct {
	Table   string          `json:"table"`
	Columns []dataset.Field `json:"columns"`
	File    dataset.File    `json:"file"`
}

// IndexState is what an index that is filled from the table records takes over.
type IndexState struct {
	Version  int              `json:"version"` // of the form of records
	Settings map[string]int64 `json:"settings"`
}

// Table finds a table by name; nil if the version has none of that name.
func (m *Manifest) Table(name string) *TableFile {
	for i := range m.Tables {
		if m.Tables[i].Table == name {
			return &m.Tables[i]
		}
	}
	return nil
}

// Root is the directory of all versions in a store.
func Root(layout store.Layout) store.Key { return layout.Heirloom().Join("catalog") }

const (
	claimName    = "claim.json"
	manifestName = "manifest.json"
	latestName   = "latest.json"
	viewsName    = "views.sql"
)

// dirName is the directory of a version below Root.
func dirName(number int64) string { return fmt.Sprintf("%020d", number) }

// parseDir reads the name of a directory; 0 is none of ours.
func parseDir(name string) int64 {
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil || n < 1 || dirName(n) != name {
		return 0
	}
	return n
}

// claim says who publishes a version.
type claim struct {
	Version int       `json:"version"` // of this format: 1
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	Writer  string    `json:"writer"`
}

// encode writes a document as indented JSON with a newline at its end, for people too.
func encode(v any) ([]byte, error) {
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

// readManifest reads a manifest, or the latest. The error has kind store.ErrNotExist where there is none,
// store.ErrUnsupported for one of a newer format, store.ErrCorrupt for what is none.
func readManifest(ctx context.Context, s *store.Store, key store.Key) (*Manifest, error) {
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return parseManifest(key, body)
}

func parseManifest(key store.Key, body []byte) (*Manifest, error) {
	var head struct {
		Version int
		Number  int64
	}
	fail := func(kind, err error) (*Manifest, error) {
		return nil, &store.Error{Op: "read catalog", Key: string(key), Kind: kind, Err: err}
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return fail(store.ErrCorrupt, err)
	}
	if head.Version > format {
		return fail(store.ErrUnsupported, fmt.Errorf("version %d of the catalog is of format %d, and this program knows up to %d: a newer heirloom reads it", head.Number, head.Version, format))
	}
	m := new(Manifest)
	if err := json.Unmarshal(body, m); err != nil {
		return fail(store.ErrCorrupt, err)
	}
	if m.Version < 1 || m.Number < 1 || m.Reclaimed == nil && len(m.Tables) == 0 {
		return fail(store.ErrCorrupt, fmt.Errorf("it is no manifest"))
	}
	return m, nil
}
