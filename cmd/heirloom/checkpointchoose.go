package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
)

// metric is what --best asks for.
type metric struct {
	name string // "" = nothing is asked for
	max  bool
}

// parseMetric reads METRIC, METRIC:min or METRIC:max. Without the end it goes by the usual names; others are a usage
// error, for the wrong guess would keep the worst.
func parseMetric(command, text string) (metric, error) {
	name, order, given := cutLast(text, ":")
	switch {
	case text == "":
		return metric{}, nil
	case given && order == "max" && name != "":
		return metric{name: name, max: true}, nil
	case given && order == "min" && name != "":
		return metric{name: name}, nil
	}
	lower := strings.ToLower(text)
	for _, word := range []string{"loss", "error", "perplexity", "ppl", "rmse", "mae", "mse", "wer"} {
		if strings.Contains(lower, word) {
			return metric{name: text}, nil
		}
	}
	for _, word := range []string{"acc", "f1", "auc", "bleu", "rouge", "precision", "recall", "reward", "score"} {
		if strings.Contains(lower, word) {
			return metric{name: text, max: true}, nil
		}
	}
	return metric{}, usagef(command, "say whether less or more of %s is better: %s:min or %s:max", text, text, text)
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// choice says which one checkpoint is meant. The zero value is the latest.
type choice struct {
	step int64  // checkpoint.NoStep = any
	path string // in the run; "" = any
	best metric
}

// splitChoice cuts @STEP or #PATH off the name of a run.
func splitChoice(text string) (string, choice) {
	any := choice{step: checkpoint.NoStep}
	if bytesURL().MatchString(text) {
		return text, any
	}
	if name, path, ok := strings.Cut(text, "#"); ok {
		any.path = strings.TrimSuffix(path, "/")
		return name, any
	}
	if name, digits, ok := cutLast(text, "@"); ok && name != "" && digits != "" && strings.Trim(digits, "0123456789") == "" {
		if step, err := strconv.ParseInt(digits, 10, 64); err == nil {
			any.step = step
			return name, any
		}
	}
	return text, any
}

// fits says whether a checkpoint is the one of that step or path.
func (ch choice) fits(s saved) bool {
	return (ch.step < 0 || s.Step == ch.step) && (ch.path == "" || s.path == ch.path)
}

// pick takes the one checkpoint that is meant from those found under text. None is store.ErrNotExist, one that is not
// whole store.ErrCorrupt, several of one step store.ErrConflict.
func (a *app) pick(ctx context.Context, p place, list []saved, ch choice, text string) (saved, error) {
	fitting := slices.DeleteFunc(slices.Clone(list), func(s saved) bool { return !ch.fits(s) })
	whole := slices.DeleteFunc(slices.Clone(fitting), func(s saved) bool { return !s.Complete() })
	switch {
	case len(whole) == 0 && len(fitting) > 0:
		s := fitting[len(fitting)-1]
		return s, &kindError{text: fmt.Sprintf("checkpoint %s is not whole: %s", s.name(), s.Reason), kind: store.ErrCorrupt}
	case len(whole) == 0:
		return saved{}, &advised{
			err:    &kindError{text: fmt.Sprintf("there is no such checkpoint: %s", store.RedactURL(text)), kind: store.ErrNotExist},
			advice: "heirloom checkpoint ls lists them",
		}
	case ch.best.name != "":
		return a.pickBest(ctx, p, whole, ch.best)
	case ch.step >= 0 && len(whole) > 1:
		var names []string
		for _, s := range whole {
			names = append(names, s.name())
		}
		return saved{}, &kindError{text: fmt.Sprintf("several checkpoints are of step %d: %s", ch.step, strings.Join(names, ", ")), kind: store.ErrConflict}
	}
	return slices.MaxFunc(whole, func(x, y saved) int { return checkpoint.Compare(x.Checkpoint, y.Checkpoint) }), nil
}

func (a *app) pickBest(ctx context.Context, p place, whole []saved, m metric) (saved, error) {
	values, err := a.values(ctx, p, whole, m)
	if err != nil {
		return saved{}, err
	}
	best := -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if best < 0 || isBetter(v, values[best], m.max, checkpoint.Compare(whole[i].Checkpoint, whole[best].Checkpoint) > 0) {
			best = i
		}
	}
	if best < 0 {
		return saved{}, &kindError{text: fmt.Sprintf("no checkpoint has a value of %s", m.name), kind: store.ErrNotExist}
	}
	return whole[best], nil
}

// isBetter prefers the newer of equal ones.
func isBetter(v, than float64, most, newer bool) bool {
	order := cmp.Compare(v, than)
	if most {
		order = -order
	}
	return order < 0 || order == 0 && newer
}
