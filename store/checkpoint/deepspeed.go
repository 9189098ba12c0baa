package checkpoint

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// deepSpeedLatest lies beside the directories and names the one that was saved last.
const deepSpeedLatest = "latest"

// deepSpeedFile is a kind of file of which each rank writes one (deepspeed/runtime/engine.py, _get_ckpt_name and its
// like).
type deepSpeedFile struct {
	name string // for the rank: of data parallelism, then of model parallelism
	re   func() *regexp.Regexp
	data bool // one for each rank of data parallelism too
}

// The kinds of file of a checkpoint.
var deepSpeedFiles = []deepSpeedFile{
	{"model states", pattern.Lazy(`^mp_rank_(\d+)_model_states\.pt$`), false},
	{"ZeRO model states", pattern.Lazy(`^zero_pp_rank_(\d+)_mp_rank_(\d+)_model_states\.pt$`), true},
	{"ZeRO optimizer states", pattern.Lazy(`^(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_(\d+)_optim_states\.pt$`), true},
}

// ranks are those of which a kind of file is there.
type ranks map[[2]int64]bool

// deepSpeedRanks sorts the files right in d by kind.
func (d *dir) deepSpeedRanks() map[string]ranks {
	found := map[string]ranks{}
	for name := range d.files {
		for _, kind := range deepSpeedFiles {
			m := kind.re().FindStringSubmatch(name)
			if m == nil {
				continue
			}
			at := [2]int64{0, natural(m[1])}
			if kind.data {
				at = [2]int64{natural(m[1]), natural(m[2])}
			}
			if found[kind.name] == nil {
				found[kind.name] = ranks{}
			}
			found[kind.name][at] = true
		}
	}
	return found
}

// deepSpeed takes a directory with the files of its ranks.
func (f *finder) deepSpeed(d *dir) *draft {
	if len(d.deepSpeedRanks()) == 0 {
		return nil
	}
	found := &draft{Checkpoint: Checkpoint{Format: DeepSpeed, Step: stepOf(d.key, "")}}
	for _, o := range d.all() {
		if strings.HasSuffix(string(o.Key), "_model_states.pt") {
			found.markers = append(found.markers, o.Key)
		}
	}
	found.check = func(ctx context.Context) error { return f.checkDeepSpeed(ctx, d) }
	return found
}

// checkDeepSpeed wants the file latest to name this directory or a later one, every file of every rank that the model
// states tell of, and those kinds of file that the latest one has.
func (f *finder) checkDeepSpeed(ctx context.Context, d *dir) error {
	latest, err := f.latestOf(ctx, d)
	if err != nil {
		return err
	}
	data, model, err := f.worldOf(ctx, d)
	if err != nil {
		return err
	}
	have := d.deepSpeedRanks()
	for _, kind := range deepSpeedFiles {
		there := have[kind.name]
		if there == nil && len(latest.deepSpeedRanks()[kind.name]) > 0 {
			return notWhole("the %s are missing", kind.name)
		}
		if there == nil {
			continue
		}
		if err := kind.complete(there, data, model); err != nil {
			return err
		}
	}
	return f.allWhole(ctx, d.all())
}

// complete wants the files of all ranks.
func (k deepSpeedFile) complete(there ranks, data, model int64) error {
	if !k.data {
		data = 1
	}
	if int64(len(there)) > data*model {
		return notWhole("there are %s of %d ranks, and %d saved it", k.name, len(there), data*model)
	}
	for m := range model {
		for r := range data {
			if !there[[2]int64{r, m}] {
				return notWhole("the %s of rank %s are missing", k.name, k.rank(r, m))
			}
		}
	}
	return nil
}

func (k deepSpeedFile) rank(data, model int64) string {
	if k.data {
		return fmt.Sprintf("%d, model rank %d,", data, model)
	}
	return fmt.Sprint(model)
}

// latestOf is the directory that the file latest names, if d is that or an earlier one.
func (f *finder) latestOf(ctx context.Context, d *dir) (*dir, error) {
	if d.parent == nil || !d.parent.has(deepSpeedLatest) {
		return nil, notWhole("no file %s beside it names it", deepSpeedLatest)
	}
	o := d.parent.files[deepSpeedLatest]
	if o.Size > 4096 {
		return nil, notWhole("%s beside it is no name", deepSpeedLatest)
	}
	text, err := f.object(ctx, o).text()
	if err != nil {
		return nil, err
	}
	tag := strings.TrimSpace(string(text))
	latest := d.parent.dirs[tag]
	if latest == nil {
		return nil, notWhole("%s beside it names %q, which is not there", deepSpeedLatest, tag)
	}
	if latest != d && stepOf(latest.key, "") <= stepOf(d.key, "") {
		return nil, notWhole("%s beside it names %s", deepSpeedLatest, tag)
	}
	return latest, nil
}

// worldOf reads how many ranks of data and model parallelism saved d.
func (f *finder) worldOf(ctx context.Context, d *dir) (data, model int64, err error) {
	for _, name := range []string{"mp_rank_00_model_states.pt", "zero_pp_rank_0_mp_rank_00_model_states.pt"} {
		o, ok := d.files[name]
		if !ok {
			continue
		}
		if _, err := f.whole(ctx, o); err != nil {
			return 0, 0, err
		}
		found, err := torchSettings(f.object(ctx, o), "dp_world_size", "mp_world_size")
		if err != nil {
			return 0, 0, err
		}
		data, model = found["dp_world_size"], max(1, found["mp_world_size"])
		if data < 1 || data > maxShards || model > maxShards {
			return 0, 0, notWhole("%s does not tell how many ranks saved it", name)
		}
		return data, model, nil
	}
	return 0, 0, notWhole("the model states of rank 0 are missing")
}
