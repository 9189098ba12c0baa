package checkpoint

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// The names of the Trainer's files (transformers/trainer.py, trainer_callback.py).
const (
	trainerState = "trainer_state.json" // written last
	trainingArgs = "training_args.bin"
	modelConfig  = "config.json"
	adapter      = "adapter_config.json"
)

var (
	trainerDir = pattern.Lazy(`^checkpoint-(\d+)$`)
	trainerOwn = pattern.Lazy(`^(?:training_args\.bin|optimizer\.(?:pt|bin)|scheduler\.pt|rng_state.*\.pth|config\.json|adapter_config\.json|(?:model|adapter_model|pytorch_model).*\.(?:safetensors|bin))$`)
	weightFile = pattern.Lazy(`^(?:model|adapter_model|pytorch_model|pytorch_model_fsdp|consolidated)\.(?:safetensors|bin|pth)$`)
	rngFile    = pattern.Lazy(`^rng_state(?:_\d+)?\.pth$`)
)

// huggingFace takes a directory that the Trainer writes, with all below it.
func (f *finder) huggingFace(d *dir) *draft {
	named := trainerDir().MatchString(d.name()) && slices.ContainsFunc(d.names(), trainerOwn().MatchString)
	if !named && !d.has(trainerState) {
		return nil
	}
	found := &draft{Checkpoint: Checkpoint{Format: HuggingFace, Step: stepIn(d.name())}}
	if d.has(trainerState) {
		found.markers = []store.Key{d.key.Join(trainerState)}
	}
	found.check = func(ctx context.Context) error { return f.checkTrainer(ctx, d, found) }
	return found
}

func (f *finder) checkTrainer(ctx context.Context, d *dir, found *draft) error {
	for _, name := range []string{trainerState, trainingArgs} {
		if !d.has(name) {
			return notWhole("%s is missing", name)
		}
	}
	if err := f.readTrainerState(ctx, d, found); err != nil {
		return err
	}
	if err := f.checkOptimizer(ctx, d); err != nil {
		return err
	}
	if err := f.checkModel(ctx, d); err != nil {
		return err
	}
	for _, o := range d.own() {
		if name := o.Key.Base(); strings.HasPrefix(name, "optimizer") || weightFile().MatchString(name) || indexOf(name) != "" {
			if err := f.notAfter(o, d.files[trainerState]); err != nil {
				return err
			}
		}
	}
	return f.allWhole(ctx, d.own())
}

// readTrainerState takes the step and the metrics logged last.
func (f *finder) readTrainerState(ctx context.Context, d *dir, found *draft) error {
	var state struct {
		Step    number              `json:"global_step"`
		History []map[string]number `json:"log_history"`
	}
	if err := readJSON(f.object(ctx, d.files[trainerState]), &state); err != nil {
		return err
	}
	step := int64(NoStep)
	if s := float64(state.Step); s >= 0 && s == math.Trunc(s) && s < 1e18 {
		step = int64(s)
	}
	if m := trainerDir().FindStringSubmatch(d.name()); m != nil && natural(m[1]) != step {
		return notWhole("%s tells of step %d", trainerState, step)
	}
	if step >= 0 {
		found.Step = step
	}
	for _, line := range state.History {
		for name, v := range line {
			if found.Metrics == nil {
				found.Metrics = map[string]float64{}
			}
			found.Metrics[name] = float64(v)
		}
	}
	return nil
}

// checkOptimizer wants what is needed to go on, unless the settings say that only the model was saved.
func (f *finder) checkOptimizer(ctx context.Context, d *dir) error {
	args, err := torchSettings(f.object(ctx, d.files[trainingArgs]), "save_only_model")
	if err != nil || args["save_only_model"] == 1 {
		return err
	}
	sharded := slices.ContainsFunc(d.subs(), func(sub *dir) bool { return f.deepSpeed(sub) != nil })
	switch {
	case !sharded && !d.has("optimizer.pt") && !d.has("optimizer.bin") && d.dirs["optimizer_0"] == nil:
		return notWhole("optimizer.pt is missing")
	case !sharded && !d.has("scheduler.pt"):
		return notWhole("scheduler.pt is missing")
	case !slices.ContainsFunc(d.names(), rngFile().MatchString):
		return notWhole("rng_state.pth is missing")
	}
	return nil
}

// checkModel wants a configuration, and weights in one of the forms they have.
func (f *finder) checkModel(ctx context.Context, d *dir) error {
	if !d.has(modelConfig) && !d.has(adapter) {
		return notWhole("%s is missing", modelConfig)
	}
	weights := slices.ContainsFunc(d.names(), weightFile().MatchString)
	for _, index := range d.indices() {
		if err := f.checkIndex(ctx, d, index); err != nil {
			return err
		}
		weights = true
	}
	for _, sub := range d.subs() {
		for _, recognise := range []func(*dir) *draft{f.dcp, f.deepSpeed} {
			if found := recognise(sub); found != nil {
				if why, err := verdict(found.check(ctx)); err != nil || why != "" {
					return cmp.Or(err, notWhole("%s: %s", sub.name(), why))
				}
				weights = true
			}
		}
	}
	if !weights {
		return notWhole("the weights are missing")
	}
	return nil
}

// pretrained takes a directory that save_pretrained wrote: a configuration and weights. In a run it is the result of
// training rather than a checkpoint, unless it lies among those.
func (f *finder) pretrained(d *dir) bool {
	weights := slices.ContainsFunc(d.names(), weightFile().MatchString) || len(d.indices()) > 0
	if !weights || !d.has(modelConfig) && !d.has(adapter) || !f.wanted(d, d.name()) {
		return false
	}
	found := &draft{Checkpoint: Checkpoint{Format: HuggingFace, Step: stepOf(d.key, "")}}
	for _, name := range []string{modelConfig, adapter} {
		if d.has(name) {
			found.markers = append(found.markers, d.key.Join(name))
		}
	}
	found.check = func(ctx context.Context) error {
		if err := f.checkModel(ctx, d); err != nil {
			return err
		}
		return f.allWhole(ctx, d.own())
	}
	f.add(d, found, d.own())
	return true
}
