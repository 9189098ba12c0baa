package dataset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// stores are the kinds of store on which every behaviour is tested.
var stores = map[string]func(t *testing.T) string{
	"mem":   func(*testing.T) string { return "mem://" },
	"local": func(t *testing.T) string { return t.TempDir() },
}

// onStores runs a test on each of them.
func onStores(t *testing.T, test func(t *testing.T, s *store.Store)) {
	for name, url := range stores {
		t.Run(name, func(t *testing.T) { test(t, openStore(t, url(t), nil)) })
	}
}

func openStore(t *testing.T, url string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func spec() dataset.Spec {
	return dataset.Spec{
		Sources:  []dataset.Source{{URI: "clicks@1", Version: "7"}},
		Features: []string{"a"}, Labels: []string{"b"},
		Split: dataset.Split{Val: 0.25}, Seed: 1,
	}
}

// table has the rows from a on: a counts, b halves it, c says it.
func table(from, to int) dataset.Table {
	var a []int32
	var b []float32
	var c []string
	for i := from; i < to; i++ {
		a, b, c = append(a, int32(i)), append(b, float32(i)/2), append(c, fmt.Sprint("row ", i))
	}
	return dataset.Table{{Name: "a", Values: a}, {Name: "b", Values: b}, {Name: "c", Values: c}}
}

// produce writes 300 rows for training, in two batches, and 100 for validation.
func produce(ctx context.Context, w *dataset.Writer) error {
	return errors.Join(
		w.WriteTable(ctx, dataset.Train, table(0, 200)),
		w.WriteTable(ctx, dataset.Val, table(300, 400)),
		w.WriteTable(ctx, dataset.Train, table(200, 300)))
}

func stage(t *testing.T, s *store.Store, spec dataset.Spec) *dataset.Dataset {
	t.Helper()
	d, _, err := dataset.Stage(t.Context(), s, spec, produce)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func manifest(t *testing.T, s *store.Store, d *dataset.Dataset, split dataset.Name) *dataset.Manifest {
	t.Helper()
	m, err := d.Manifest(t.Context(), s, split)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func keys(t *testing.T, s *store.Store, prefix string) []string {
	t.Helper()
	var list []string
	for object, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(object.Key))
	}
	return list
}

func TestStageThenHit(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		first, hit, err := dataset.Stage(t.Context(), s, spec(), produce)
		if err != nil || hit {
			t.Fatalf("first Stage: hit %v, %v", hit, err)
		}
		second, hit, err := dataset.Stage(t.Context(), s, spec(), func(context.Context, *dataset.Writer) error {
			return errors.New("produced again")
		})
		if err != nil || !hit {
			t.Fatalf("second Stage: hit %v, %v", hit, err)
		}
		if got, want := mustJSON(t, second), mustJSON(t, first); got != want {
			t.Errorf("hit returned %s, want %s", got, want)
		}
	})
}

// TestHitIsTwoRequests has datasets of one to three splits, many parts, and one
// that was pruned before.
func TestHitIsTwoRequests(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		all := spec()
		all.Split = dataset.Split{Val: 0.25, Test: 0.25}
		one := spec()
		one.Split = dataset.Split{}
		for name, spec := range map[string]dataset.Spec{"one split": one, "two splits": spec(), "three splits": all} {
			t.Run(name, func(t *testing.T) {
				produce := func(ctx context.Context, w *dataset.Writer) error {
					for _, split := range spec.Splits() {
						if err := w.WriteTable(ctx, split, table(0, 100)); err != nil {
							return err
						}
					}
					return nil
				}
				if _, hit, err := dataset.Stage(t.Context(), s, spec, produce); err != nil || hit {
					t.Fatalf("first Stage: hit %v, %v", hit, err)
				}
				before := s.Stats()
				_, hit, err := dataset.Stage(t.Context(), s, spec, never)
				if err != nil || !hit {
					t.Fatalf("second Stage: hit %v, %v", hit, err)
				}
				if got := s.Stats().Total() - before.Total(); got != 2 {
					t.Errorf("a hit took %d requests, want 2", got)
				}
			})
		}
	})
}

func TestStageLaysFilesAsHorovodAndSparkDo(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		first := stage(t, s, spec())
		other := spec()
		other.Seed = 2
		second := stage(t, s, other)
		part := regexp.MustCompile(`^part-00000-[0-9a-f-]{36}-c000\.zstd\.parquet$`)
		for i, d := range []*dataset.Dataset{first, second} {
			for split, dir := range map[dataset.Name]string{
				dataset.Train: fmt.Sprintf("intermediate_train_data.%d", i),
				dataset.Val:   fmt.Sprintf("intermediate_val_data.%d", i),
			} {
				if got := string(d.Commit.Splits[split].Dir); got != dir {
					t.Errorf("%s lies in %s, want %s", split, got, dir)
				}
				list := keys(t, s, dir+"/")
				if len(list) != 3 || list[0] != dir+"/_SUCCESS" || list[1] != dir+"/_heirloom.json" ||
					!part.MatchString(strings.TrimPrefix(list[2], dir+"/")) {
					t.Errorf("%s holds %v", dir, list)
				}
				epoch := fmt.Sprintf("-%012d-c000", i+1)
				if !strings.Contains(list[2], epoch) {
					t.Errorf("%s does not carry the epoch of its claim, %s", list[2], epoch)
				}
			}
		}
		if got := keys(t, s, "heirloom/datasets/index/"); !slices.Equal(got, []string{
			"heirloom/datasets/index/000000", "heirloom/datasets/index/000000.end",
			"heirloom/datasets/index/000001", "heirloom/datasets/index/000001.end"}) {
			t.Errorf("claims: %v", got)
		}
		body, err := s.Get(t.Context(), store.Key("heirloom/datasets/"+first.Commit.Fingerprint))
		if err != nil {
			t.Fatal(err)
		}
		var commit dataset.Commit
		if err := json.Unmarshal(body, &commit); err != nil || mustJSON(t, commit) != mustJSON(t, first.Commit) {
			t.Errorf("commit holds %s (%v), want %s", body, err, mustJSON(t, first.Commit))
		}
	})
}

func TestStagersNeverShareAnIndex(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		if err := s.Put(t.Context(), "intermediate_val_data.0/part-00000.parquet", []byte("another program's")); err != nil {
			t.Fatal(err)
		}
		if d := stage(t, s, spec()); d.Commit.Index != 1 {
			t.Errorf("index %d, want 1: another program has files at 0", d.Commit.Index)
		}
	})
}

// TestFailedProducer covers producers that give up, panic and are cancelled.
func TestFailedProducer(t *testing.T) {
	failures := map[string]func(ctx context.Context, w *dataset.Writer) error{
		"error": func(ctx context.Context, w *dataset.Writer) error {
			return errors.Join(produce(ctx, w), errors.New("no more"))
		},
		"empty split": func(ctx context.Context, w *dataset.Writer) error {
			return w.WriteTable(ctx, dataset.Train, table(0, 10))
		},
		"other schema": func(ctx context.Context, w *dataset.Writer) error {
			return errors.Join(produce(ctx, w), w.WriteTable(ctx, dataset.Val, table(0, 1)[:2]))
		},
		"unknown split": func(ctx context.Context, w *dataset.Writer) error {
			return w.WriteTable(ctx, dataset.Test, table(0, 1))
		},
		"column missing": func(ctx context.Context, w *dataset.Writer) error {
			return w.WriteTable(ctx, dataset.Train, table(0, 1)[:1])
		},
	}
	for name, failing := range failures {
		t.Run(name, func(t *testing.T) {
			onStores(t, func(t *testing.T, s *store.Store) {
				_, _, err := dataset.Stage(t.Context(), s, spec(), failing)
				if err == nil || name != "error" && !errors.Is(err, store.ErrInvalid) {
					t.Fatalf("Stage: %v", err)
				}
				for _, key := range keys(t, s, "") {
					if strings.Contains(key, "_SUCCESS") || strings.Contains(key, "_heirloom.json") {
						t.Errorf("%s was written", key)
					}
				}
				if rest := keys(t, s, "intermediate_"); len(rest) > 0 {
					t.Errorf("left behind: %v", rest)
				}
				if d := stage(t, s, spec()); d.Commit.Index != 1 {
					t.Errorf("staged again under index %d, want 1", d.Commit.Index)
				}
				read(t, s, "intermediate_train_data.1", 0, 300)
			})
		})
	}
}

func TestWriterAfterTheEnd(t *testing.T) {
	s := openStore(t, "mem://", nil)
	var kept *dataset.Writer
	_, _, err := dataset.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
		kept = w
		return produce(ctx, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.WriteTable(t.Context(), dataset.Train, table(0, 1)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a write after Stage returned: %v", err)
	}
}

func TestCommittedButGone(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		d := stage(t, s, spec())
		manifest := d.Commit.Splits[dataset.Train].Dir.Join(dataset.ManifestName)
		body, err := s.Get(t.Context(), manifest)
		if err != nil {
			t.Fatal(err)
		}
		for name, spoil := range map[string]func() error{
			"gone":    func() error { return s.Delete(t.Context(), manifest) },
			"another": func() error { return s.Put(t.Context(), manifest, append(body, '\n')) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			_, _, err := dataset.Stage(t.Context(), s, spec(), produce)
			if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), string(manifest)) {
				t.Errorf("manifest %s: Stage = %v", name, err)
			}
			if _, err := d.Manifest(t.Context(), s, dataset.Train); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("manifest %s: Manifest = %v", name, err)
			}
		}
	})
}

func TestNewerFormat(t *testing.T) {
	s := openStore(t, "mem://", nil)
	fingerprint, err := spec().Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), store.Key("heirloom/datasets/"+fingerprint), []byte(`{"version": 2}`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := dataset.Stage(t.Context(), s, spec(), produce); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("Stage = %v, want it to refuse version 2", err)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
