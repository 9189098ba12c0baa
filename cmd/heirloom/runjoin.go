package main

import "github.com/heirloom-ml/heirloom/runner"

// launch says whether this process is one of several that are one run. Where that cannot be told it is a run of its own,
// and a warning says how to help.
func (a *app) launch() (*runner.Launch, error) {
	launch, err := runner.DetectLaunch(a.environ)
	if err != nil && a.getenv("HEIRLOOM_JOIN") == "" {
		a.warn("%v", err)
		return nil, nil
	}
	return launch, err
}
