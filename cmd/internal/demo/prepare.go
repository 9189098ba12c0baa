package demo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/testdata/digits"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// SourceID is what lineage calls the digits where they come from.
const SourceID = "uci-optdigits@1998-07"

// sourceURL is where the digits were published.
const sourceURL = "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits"

// recipe changes whenever prepare makes other rows of the same options.
const recipe = "heirloom.demo.prepare/1"

// PrepareOptions are the flags of the step prepare.
type PrepareOptions struct {
	Val, Test float64 // fractions of the digits
	Seed      uint64
}

// Prepared is dataset.json, what the step prepare writes into its output directory.
type Prepared struct {
	Fingerprint store.Digest   `json:"fingerprint"`
	Hit         bool           `json:"hit"` // the dataset was there already
	Splits      []PreparedPart `json:"splits"`
}

// PreparedPart is one split of the dataset. Its name is that of the artifact too.
type PreparedPart struct {
	Name dataset.Name `json:"name"`
	Key  store.Key    `json:"key"`
	URL  string       `json:"url"`
	Rows int64        `json:"rows"`
}

// Prepare divides the digits into train, val and test, each digit with its share
// in all three, and stages them. It registers the three directories as artifacts.
func Prepare(ctx context.Context, env Env, opts PrepareOptions) error {
	all, err := digits.Load()
	if err != nil {
		return err
	}
	spec := dataset.Spec{
		Sources:  []dataset.Source{{URI: SourceID, Digest: store.Digest(digits.SHA256())}},
		Features: pixelColumns(), Labels: []string{labelColumn},
		Options: map[string]string{"recipe": recipe},
		Split:   dataset.Split{Val: opts.Val, Test: opts.Test, Stratify: labelColumn},
		Seed:    opts.Seed,
	}
	staged, hit, err := dataset.Stage(ctx, env.Store, spec, func(ctx context.Context, w *dataset.Writer) error {
		for name, rows := range divide(all, opts) {
			if err := w.WriteTable(ctx, name, digitTable(all, rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	prepared := Prepared{Fingerprint: staged.Commit.Fingerprint, Hit: hit}
	for _, name := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test} {
		if split, ok := staged.Commit.Splits[name]; ok {
			prepared.Splits = append(prepared.Splits, PreparedPart{name, split.Dir, env.Store.KeyURL(split.Dir), split.Rows})
		}
	}
	return report(ctx, env, prepared, staged)
}

// report tells the outcome to people, to the output directory and to the tracker.
func report(ctx context.Context, env Env, prepared Prepared, staged *dataset.Dataset) error {
	verb := "staged"
	if prepared.Hit {
		verb = "already staged"
	}
	for _, part := range prepared.Splits {
		env.print("%-5s %5d digits %s in %s", part.Name, part.Rows, verb, part.URL)
		if env.Artifacts == nil {
			continue
		}
		if err := env.Artifacts.AddArtifact(ctx, datasetArtifact(part, staged)); err != nil {
			return err
		}
	}
	return writeJSON(env.OutputDir, "dataset.json", prepared)
}

func datasetArtifact(part PreparedPart, staged *dataset.Dataset) tracker.Artifact {
	split := staged.Commit.Splits[part.Name]
	return tracker.Artifact{Name: string(part.Name), Path: part.URL, Metadata: pyjson.NewObject(
		pyjson.Member{Key: tracker.KeyKey, Value: string(part.Key)},
		pyjson.Member{Key: tracker.KeyKind, Value: tracker.KindDataset},
		pyjson.Member{Key: tracker.KeySizeBytes, Value: split.Bytes},
		pyjson.Member{Key: "rows", Value: split.Rows},
		pyjson.Member{Key: "fingerprint", Value: string(staged.Commit.Fingerprint)},
		pyjson.Member{Key: "manifest_sha256", Value: string(split.ManifestSHA256)},
	)}
}

// divide draws the rows of each split: the fractions of every digit apart, so
// that all splits hold each digit equally often; then the order within a split.
func divide(all []digits.Digit, opts PrepareOptions) map[dataset.Name][]int {
	r := rand.New(rand.NewPCG(opts.Seed, 0))
	var ofLabel [classes][]int
	for i, d := range all {
		ofLabel[d.Label] = append(ofLabel[d.Label], i)
	}
	splits := make(map[dataset.Name][]int)
	for _, rows := range ofLabel {
		shuffle(r, rows)
		val, test := share(rows, opts.Val), share(rows, opts.Test)
		splits[dataset.Val] = append(splits[dataset.Val], rows[:val]...)
		splits[dataset.Test] = append(splits[dataset.Test], rows[val:val+test]...)
		splits[dataset.Train] = append(splits[dataset.Train], rows[val+test:]...)
	}
	for _, name := range []dataset.Name{dataset.Train, dataset.Val, dataset.Test} {
		shuffle(r, splits[name])
		if len(splits[name]) == 0 {
			delete(splits, name)
		}
	}
	return splits
}

func share(rows []int, fraction float64) int { return int(math.Round(float64(len(rows)) * fraction)) }

func shuffle(r *rand.Rand, rows []int) {
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// digitTable holds the digits at rows: where they come from, pixels, label.
func digitTable(all []digits.Digit, rows []int) dataset.Table {
	columns := make([][]int32, inputs+2)
	for _, row := range rows {
		columns[0] = append(columns[0], int32(row))
		for i, pixel := range all[row].Pixels {
			columns[1+i] = append(columns[1+i], int32(pixel))
		}
		columns[inputs+1] = append(columns[inputs+1], int32(all[row].Label))
	}
	names := append(append([]string{rowColumn}, pixelColumns()...), labelColumn)
	table := make(dataset.Table, len(names))
	for i, name := range names {
		table[i] = dataset.Column{Name: name, Values: columns[i]}
	}
	return table
}

// storeKey reads a place in the store, given as a key or as a full URL.
func storeKey(s *store.Store, place string) (store.Key, error) {
	if root := strings.TrimSuffix(s.KeyURL("x"), "x"); strings.HasPrefix(place, root) {
		place = strings.TrimPrefix(place, root)
	}
	key, err := store.ParseKey(place)
	if err != nil {
		return "", fmt.Errorf("%s is no place in the store %s: %w", place, s.URL(), err)
	}
	return key, nil
}
