package demo

import (
	"context"
	"fmt"
	"strings"
)

// EvaluateOptions are the flags of the step evaluate.
type EvaluateOptions struct {
	Model string // key or URL in the store
	Test  string // split: key or URL in the store
}

// Evaluation is evaluation.json, what the step evaluate writes.
type Evaluation struct {
	Images       int     `json:"images"`
	TestAccuracy float64 `json:"test_accuracy"` // share of the images told right
	TestLoss     float64 `json:"test_loss"`     // mean cross-entropy, in nats
	// Confusion counts images by their label, then by what they were taken for.
	Confusion [classes][classes]int `json:"confusion"`
}

// Evaluate measures a model on the test split.
func Evaluate(ctx context.Context, env Env, opts EvaluateOptions) error {
	net, err := readModel(ctx, env.Store, opts.Model)
	if err != nil {
		return err
	}
	test, err := readImages(ctx, env.Store, opts.Test)
	if err != nil {
		return err
	}
	result := Evaluation{Images: test.len()}
	s := net.score(test, func(label, predicted int) { result.Confusion[label][predicted]++ })
	result.TestAccuracy, result.TestLoss = s.accuracy, s.loss
	picture := result.picture()
	env.print("%s", picture)
	if err := writeFile(env.OutputDir, "confusion.txt", []byte(picture)); err != nil {
		return err
	}
	if err := writeJSON(env.OutputDir, "evaluation.json", result); err != nil {
		return err
	}
	return env.metrics(map[string]any{"step": 1, "test_accuracy": s.accuracy, "test_loss": s.loss})
}

// picture draws the confusion matrix as text.
func (e Evaluation) picture() string {
	var b strings.Builder
	fmt.Fprintf(&b, "test accuracy %.4f on %d digits\n\n", e.TestAccuracy, e.Images)
	b.WriteString("      taken for\n     ")
	for c := range classes {
		fmt.Fprintf(&b, "%4d", c)
	}
	b.WriteString("\n")
	for label, row := range e.Confusion {
		fmt.Fprintf(&b, "is %d ", label)
		for _, n := range row {
			if n == 0 {
				b.WriteString("   ·")
				continue
			}
			fmt.Fprintf(&b, "%4d", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}
