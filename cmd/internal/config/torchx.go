package config

import "fmt"

const torchxTrackers = "TORCHX_TRACKERS"

// torchxLayer reads the TORCHX_* variables that mean the same as ours, and the scheduler of [cli:run] in .torchxconfig. Where nothing nearer names a place, the root of
// the first of TorchX's fsspec trackers, as its variables or its .torchxconfig files configure them, is the tracker.
func torchxLayer(in Input, env map[string]string, place bool) (layer, error) {
	var l layer
	for _, s := range settings() {
		if s.torchx != "" {
			l.set(LevelTorchX, s.torchx, s.key, env[s.torchx])
		}
	}
	files, err := readTorchXFiles(env, in.Dir)
	if err != nil && place {
		return layer{}, err
	}
	if err != nil { // it decides nothing but how run starts jobs, which reads the files again and says so
		return l, nil //nolint:nilerr // as above
	}
	if v := files.get(cliSection+":run", "scheduler"); v.text != "None" {
		l.set(LevelTorchX, v.file, Scheduler, v.text)
	}
	if !place {
		return l, nil
	}
	for _, t := range files.trackers(env) {
		if _, found := l.values[Tracker]; found || !t.fsspec() || t.config == "" {
			l.others = append(l.others, OtherTracker{Name: t.name, Config: t.config, Origin: t.origin, Fsspec: t.fsspec()})
			continue
		}
		root, err := in.TrackerRoot(t.config)
		if err != nil {
			return layer{}, fmt.Errorf("read %s: %w", t.origin, err)
		}
		l.set(LevelTorchX, t.origin, Tracker, root)
	}
	return l, nil
}

// OtherTracker is one of TorchX's beside that which Tracker names: TorchX writes to all and reads from the first.
type OtherTracker struct {
	Name   string
	Config string // of its factory, "" if there is none
	Origin string // who says so
	Fsspec bool   // it is TorchX's own, which heirloom can stand in for
}
