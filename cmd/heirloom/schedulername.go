package main

import (
	"cmp"
	"fmt"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/store"
)

// What TorchX calls its schedulers of one machine.
const (
	torchxLocal  = "local_cwd"
	torchxDocker = "local_docker"
)

// schedulerName is ours for a name of TorchX's. That of a scheduler for which there is nothing here is refused with what
// to use; any other is as it was, and the runner knows whether there is one.
func schedulerName(name string) (string, error) {
	switch name {
	case torchxLocal:
		return schedulerLocal, nil
	case torchxDocker:
		return "", &advised{
			err:    &kindError{text: fmt.Sprintf("there is no scheduler %s here: heirloom starts no containers itself", torchxDocker), kind: store.ErrUnsupported},
			advice: "use -s local, with docker run IMAGE COMMAND as the command",
		}
	}
	return name, nil
}

// schedulerOf is the scheduler that is named, or the default.
func schedulerOf(f runFlags, c *config.Config) (string, error) {
	return schedulerName(cmp.Or(f.scheduler, c.Get(config.Scheduler).Text))
}
