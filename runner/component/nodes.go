package component

import (
	"fmt"
	"math"
	"strconv"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// nodes is what -j says: how many nodes, and how many processes on each.
type nodes struct {
	min, max int
	perNode  int    // 0 = not said
	text     string // the nodes as torchrun's --nnodes has them
}

var nodesPattern = pattern.Lazy(`^(?:(?:([0-9]+):)?([0-9]+)x)?([0-9]+)$`)

// parseNodes reads [[MIN:]NODES x]PROCESSES, as in 2:4x8, 2x8 and 8. It follows TorchX
// components/dist.py parse_nnodes, but refuses zeros and a minimum above the maximum.
func parseNodes(text string) (nodes, error) {
	match := nodesPattern().FindStringSubmatch(text)
	if match == nil {
		return nodes{}, fmt.Errorf("-j %q is not written NODESxPROCESSES, as in 1:2x4, 2x4 or 4", text)
	}
	n := nodes{min: 1, max: 1, text: "1"}
	var err error
	if n.perNode, err = count(match[3]); err != nil {
		return nodes{}, fmt.Errorf("-j %q: %w", text, err)
	}
	if match[2] == "" {
		return n, nil
	}
	if n.max, err = count(match[2]); err != nil {
		return nodes{}, fmt.Errorf("-j %q: %w", text, err)
	}
	n.min, n.text = n.max, match[2]
	if match[1] == "" {
		return n, nil
	}
	if n.min, err = count(match[1]); err != nil {
		return nodes{}, fmt.Errorf("-j %q: %w", text, err)
	}
	if n.min > n.max {
		return nodes{}, fmt.Errorf("-j %q: at least %d nodes and at most %d cannot be", text, n.min, n.max)
	}
	n.text = match[1] + ":" + match[2]
	return n, nil
}

// count is a number of nodes or processes.
func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n > math.MaxInt32 {
		return 0, fmt.Errorf("%s is too many", text)
	}
	if n == 0 {
		return 0, fmt.Errorf("0 of them cannot run")
	}
	return n, nil
}
