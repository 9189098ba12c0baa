package main

import (
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
)

// inOurWords puts what one can do at a shell in the place of what TorchX's words advise, which the runner keeps.
func inOurWords(text string) string {
	for _, a := range [][2]string{
		{runner.AdviceApp, "No scheduler here knows it (any more): heirloom jobs lists what they know, heirloom runs what is recorded"},
		{runner.AdviceScheduler, "heirloom schedulers lists those that do"},
		{runner.AdviceRoles, "A component has one or more [[roles]]"},
		{runner.AdviceEntrypoint, "Its entrypoint is the program to start"},
		{runner.AdviceNumReplicas, "Its num_replicas is 1 or more"},
		{runner.AdviceResource, "Its resource says what it needs, as { cpu = 4, memMB = 8192 }"},
	} {
		text = strings.ReplaceAll(text, a[0], a[1])
	}
	return text
}
