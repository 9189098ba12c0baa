package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// assignGPUs gives each replica its own, consecutive over all roles. Fewer than are
// asked for is an error, since replicas that share one in silence fail later and worse.
func (s *Scheduler) assignGPUs(plan *runner.Plan, request *Request) error {
	need := 0
	for _, role := range plan.App.Roles {
		need += role.Resource.GPU * role.NumReplicas
	}
	if need == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), gpuLimit)
	defer cancel()
	gpus, err := s.gpus(ctx)
	if err != nil {
		return fmt.Errorf("find the GPUs of this machine: %w", err)
	}
	if need > len(gpus) {
		return fmt.Errorf("the replicas ask for %d GPUs, and this machine has %d for them; ask for fewer, or leave out auto_set_cuda_visible_devices: %w",
			need, len(gpus), store.ErrInvalid)
	}
	for i := range request.Replicas {
		one := &request.Replicas[i]
		n := plan.App.Role(one.Role).Resource.GPU
		one.Env = map[string]string{"CUDA_VISIBLE_DEVICES": strings.Join(gpus[:n], ",")}
		gpus = gpus[n:]
	}
	return nil
}

func (s *Scheduler) gpus(ctx context.Context) ([]string, error) {
	if s.opts.GPUs != nil {
		return s.opts.GPUs(ctx)
	}
	if visible := lookup(s.opts.Environ, "CUDA_VISIBLE_DEVICES"); visible != "" {
		return strings.Split(visible, ","), nil
	}
	out, err := exec.CommandContext(ctx, "nvidia-smi", "-L").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "GPU ") {
			list = append(list, strconv.Itoa(len(list)))
		}
	}
	return list, err
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
