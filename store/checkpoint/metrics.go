package checkpoint

import (
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

var nameMetric = pattern.Lazy(`([A-Za-z][A-Za-z_/]*)=(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)`)

// metricsIn reads metrics from a name such as epoch=1-step=9-val_loss=0.25.ckpt.
func metricsIn(name string) map[string]float64 {
	var found map[string]float64
	for _, m := range nameMetric().FindAllStringSubmatch(name, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if key := strings.TrimLeft(m[1], "_"); err == nil && key != "epoch" && key != "step" {
			if found == nil {
				found = map[string]float64{}
			}
			found[key] = v
		}
	}
	return found
}
