package demo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// ModelName is the artifact with the weights that did best on the validation split.
const ModelName = "model.safetensors"

// checkpointName is the file of an epoch, counted from 1, in the checkpoint directory.
func checkpointName(epoch int) string { return fmt.Sprintf("epoch-%04d.safetensors", epoch) }

// CheckpointArtifact is how lineage names the checkpoint of an epoch.
func CheckpointArtifact(epoch int) string { return "checkpoints/" + checkpointName(epoch) }

// plan is what fit does to a network.
type plan struct {
	train, val string // splits: keys or URLs in the store
	epochs     int
	batch      int // images
	rate       float64
	decay      bool    // the rate falls to nothing in a straight line
	shifted    float64 // share of the images that are moved by a pixel
	keep       bool    // the weights it starts from are the model until an epoch does better
	seed       uint64
}

// progress is one line of the metrics file. Losses are mean cross-entropy in nats.
type progress struct {
	Step            int     `json:"step"` // the epoch, from 1
	Loss            float64 `json:"loss"`
	Accuracy        float64 `json:"accuracy"`
	ValLoss         float64 `json:"val_loss"`
	ValAccuracy     float64 `json:"val_accuracy"`
	BestEpoch       int     `json:"best_epoch"` // 0: the weights it started from
	BestValLoss     float64 `json:"best_val_loss"`
	BestValAccuracy float64 `json:"best_val_accuracy"`
}

// better tells whether the epoch of p is the best so far.
func (p progress) better() bool {
	if p.ValAccuracy != p.BestValAccuracy {
		return p.ValAccuracy > p.BestValAccuracy
	}
	return p.ValLoss < p.BestValLoss
}

// fit trains net and leaves a checkpoint of each epoch, the best weights as
// ModelName, and a line of metrics for each epoch.
func (e Env) fit(ctx context.Context, net *network, p plan) error {
	train, err := readImages(ctx, e.Store, p.train)
	if err != nil {
		return err
	}
	val, err := readImages(ctx, e.Store, p.val)
	if err != nil {
		return err
	}
	now, err := e.start(net, p, val)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(p.seed, 1))
	o := newOptimizer(net, p.rate, p.batch, r)
	for now.Step < p.epochs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.decay {
			o.rate = float32(p.rate * float64(p.epochs-now.Step) / float64(p.epochs))
		}
		o.epoch(train.augment(p.shifted, r))
		now.Step++
		if err := e.endEpoch(net, &now, net.score(train, nil), net.score(val, nil)); err != nil {
			return err
		}
	}
	return nil
}

// start is the progress before the first epoch. Weights to keep are scored and
// written as the model.
func (e Env) start(net *network, p plan, val *images) (progress, error) {
	if !p.keep {
		return progress{BestValLoss: math.Inf(1), BestValAccuracy: -1}, nil
	}
	s := net.score(val, nil)
	e.print("start     validation loss %.4f  accuracy %.4f", s.loss, s.accuracy)
	body, err := encodeModel(net, notes(net, 0, s))
	if err != nil {
		return progress{}, err
	}
	return progress{BestValLoss: s.loss, BestValAccuracy: s.accuracy}, writeFile(e.OutputDir, ModelName, body)
}

// endEpoch writes the checkpoint, the model if it is the best, and the metrics.
func (e Env) endEpoch(net *network, now *progress, train, val score) error {
	now.Loss, now.Accuracy, now.ValLoss, now.ValAccuracy = train.loss, train.accuracy, val.loss, val.accuracy
	better := now.better()
	if better {
		now.BestEpoch, now.BestValLoss, now.BestValAccuracy = now.Step, val.loss, val.accuracy
	}
	body, err := encodeModel(net, notes(net, now.Step, val))
	if err != nil {
		return err
	}
	if err := writeFile(e.CheckpointDir, checkpointName(now.Step), body); err != nil {
		return err
	}
	if better {
		if err := writeFile(e.OutputDir, ModelName, body); err != nil {
			return err
		}
	}
	e.print("epoch %2d  loss %.4f  accuracy %.4f  validation loss %.4f  accuracy %.4f", now.Step, now.Loss, now.Accuracy, now.ValLoss, now.ValAccuracy)
	return e.metrics(now)
}

// notes are the __metadata__ of a model: strings, as safetensors wants them.
func notes(net *network, epoch int, val score) map[string]string {
	return map[string]string{
		"format":       "heirloom.demo/1",
		"hidden":       strconv.Itoa(net.hidden),
		"epoch":        strconv.Itoa(epoch),
		"val_accuracy": strconv.FormatFloat(val.accuracy, 'g', 6, 64),
	}
}
