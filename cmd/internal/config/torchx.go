package config

import (
	"fmt"
	"slices"
	"strings"
)

const (
	torchxTrackers = "TORCHX_TRACKERS"
	torchxConfig   = "TORCHX_TRACKER_FSSPEC_CONFIG"
)

// torchxLayer reads the TORCHX_* variables that mean the same as ours. Where nothing nearer names a
// place, the root that TorchX's own fsspec tracker is configured for is the tracker.
func torchxLayer(in Input, env map[string]string, place bool) (layer, error) {
	var l layer
	for _, s := range settings() {
		if s.torchx != "" {
			l.set(LevelTorchX, s.torchx, s.key, env[s.torchx])
		}
	}
	if !place || env[torchxConfig] == "" || !slices.Contains(strings.Split(env[torchxTrackers], ","), "fsspec") {
		return l, nil
	}
	root, err := in.TrackerRoot(env[torchxConfig])
	if err != nil {
		return layer{}, fmt.Errorf("read %s: %w", torchxConfig, err)
	}
	l.set(LevelTorchX, torchxConfig, Tracker, root)
	return l, nil
}
