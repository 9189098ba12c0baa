package lineagetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Run is all that is recorded of a run.
type Run struct {
	ID             tracker.RunID
	Started, Ended time.Time     // Ended is zero of a run that vanished
	State          tracker.State // Unknown for one that TorchX wrote
	ExitCode       int
	TorchX         bool              // written by TorchX: no attempts, no links but its text files
	Begin, End     *tracker.Metadata // recorded when it began and ended; End is nil if it vanished
	Artifacts      []tracker.Artifact
	Sources        []tracker.Source
}

// began is when run 0 started; the others follow every half a minute.
var began = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const apart = 30 * time.Second

// Run returns run i.
func (r *Root) Run(i int) (*Run, error) {
	random := r.random(i, factRecord)
	run := &Run{ID: r.ID(i), TorchX: i%campaign == notebook}
	run.Started = began.Add(time.Duration(i)*apart + time.Duration(random.IntN(int(apart))))
	run.Ended = run.Started.Add(time.Minute + time.Duration(random.IntN(int(2*time.Hour))))
	r.end(run, i, random)
	run.Begin = r.metadata(i, run, random)
	if run.State == tracker.Succeeded || run.TorchX {
		run.Artifacts = artifacts(i, run, random)
	}
	for _, u := range r.uses(i) {
		s, err := r.source(u, run.Started)
		if err != nil {
			return nil, err
		}
		run.Sources = append(run.Sources, s)
	}
	return run, nil
}

// end decides how a run ends, which data never do badly.
func (r *Root) end(run *Run, i int, random *rand.Rand) {
	fate := random.IntN(100)
	if i%campaign == prepare {
		fate = 99
	}
	run.State = tracker.Succeeded
	switch {
	case run.TorchX:
		run.State, run.Ended = tracker.Unknown, time.Time{}
	case fate < 2:
		run.State, run.Ended = tracker.Lost, time.Time{}
	case fate < 4:
		run.State, run.ExitCode = tracker.Cancelled, 143
	case fate < 12:
		run.State, run.ExitCode = tracker.Failed, 1+random.IntN(2)
	}
	if run.Ended.IsZero() {
		return
	}
	run.End = object(tracker.KeyState, string(run.State), tracker.KeyStarted, stamp(run.Started), tracker.KeyEnded, stamp(run.Ended),
		tracker.KeyExitCode, int64(run.ExitCode))
}

// metadata is what a job and its launcher say at first: the parameters, whose the run is, and here the metrics too.
func (r *Root) metadata(i int, run *Run, random *rand.Rand) *tracker.Metadata {
	rate := math.Pow(10, -1-3*random.Float64())
	rate = math.Round(rate*1e6) / 1e6
	loss := math.Round(1e6*(0.1+random.ExpFloat64()*0.3)) / 1e6
	accuracy := math.Round(1e6*(1-0.5*random.Float64()*random.Float64())) / 1e6
	m := object(
		"params.learning_rate", rate,
		"params.batch_size", int64(16<<random.IntN(5)),
		"params.optimizer", []string{"adam", "adamw", "sgd", "lion"}[random.IntN(4)],
		"params.seed", int64(random.IntN(1000)),
		"metrics.train_loss", loss,
		"metrics.val_accuracy", accuracy,
		"tags.stage", stage(i))
	if run.TorchX {
		return m
	}
	m.Merge(object(
		tracker.KeyName, r.name(i),
		tracker.KeyUser, fmt.Sprintf("user%02d", (r.project(i)*7+random.IntN(3))%50),
		tracker.KeyProject, projectName(r.project(i)),
		tracker.KeyCommand, []any{"python", stage(i) + ".py", "--learning-rate", fmt.Sprint(rate)}))
	return m
}

func artifacts(i int, run *Run, random *rand.Rand) []tracker.Artifact {
	if run.TorchX {
		return []tracker.Artifact{{Name: "figure", Path: "/home/user/figure.png"}}
	}
	made := func(name, file, kind string, size int64) tracker.Artifact {
		key := "runs/" + run.ID.Encode() + "/" + file
		return tracker.Artifact{Name: name, Path: "s3://corp-runs/" + key, Metadata: object(tracker.KeyKey, key,
			tracker.KeySizeBytes, size, tracker.KeySHA256, hexDigits(random), tracker.KeyKind, kind)}
	}
	switch stage(i) {
	case "prepare":
		return []tracker.Artifact{made("train", "train.parquet", tracker.KindDataset, 1<<30+random.Int64N(1<<30)),
			made("val", "val.parquet", tracker.KindDataset, 1<<26+random.Int64N(1<<26))}
	case "evaluate":
		return []tracker.Artifact{made("report", "report.json", tracker.KindMetrics, 1<<10+random.Int64N(1<<12))}
	case "report":
		return []tracker.Artifact{made("summary", "summary.html", tracker.KindOther, 1<<14+random.Int64N(1<<14))}
	}
	return []tracker.Artifact{made("model", "model.safetensors", tracker.KindModel, 1<<28+random.Int64N(1<<28))}
}

// object is pairs of key and value.
func object(pairs ...any) *pyjson.Object {
	o := &pyjson.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func hexDigits(random *rand.Rand) string {
	return fmt.Sprintf("%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())
}

// stamp is a time as records have it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }
