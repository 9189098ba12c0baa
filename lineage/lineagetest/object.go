package lineagetest

import (
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Object is one of those of which a root consists.
type Object struct {
	Key      string // below the root
	Body     []byte
	Modified time.Time
}

// Format is the object that each root begins with, heirloom.json.
func (r *Root) Format() Object {
	body := `{"format": 1, "oldest_writer": 1, "shared": false, "created": "` + stamp(began) + `", "writer": "heirloom"}`
	return Object{"heirloom.json", []byte(body), began}
}

// Objects returns what the root keeps of run i while it has n runs: its own records, and the mirror of those that used
// it. They are in order of their keys.
func (r *Root) Objects(i, n int) ([]Object, error) {
	run, err := r.Run(i)
	if err != nil {
		return nil, err
	}
	w := &objects{run: run, dir: run.ID.Encode() + "/"}
	w.records(r.random(i, factRecord).Uint64())
	w.links()
	for _, child := range r.Children(i) {
		if int(child) >= n {
			break
		}
		w.list = append(w.list, r.mirrored(i, int(child)))
	}
	slices.SortFunc(w.list, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	return w.list, w.err
}

// mirrored is what the directory of a run says of one that used it.
func (r *Root) mirrored(parent, child int) Object {
	var names strings.Builder
	for _, u := range r.uses(child) {
		if u.run == parent {
			names.WriteString(u.artifact + "\n")
		}
	}
	key := r.ID(parent).Encode() + "/descendants/" + r.ID(child).Encode()
	return Object{key, []byte(names.String()), began.Add(time.Duration(child+1) * apart)}
}

// objects gathers what lies in one run's directory.
type objects struct {
	run  *Run
	dir  string
	list []Object
	err  error
}

func (w *objects) add(name string, body []byte, at time.Time) {
	w.list = append(w.list, Object{w.dir + name, body, at})
}

func (w *objects) addJSON(name string, at time.Time, pairs ...any) {
	body, err := pyjson.Marshal(object(pairs...))
	if err != nil && w.err == nil {
		w.err = err
	}
	w.add(name, body, at)
}

// records writes metadata, artifacts and the attempt.
func (w *objects) records(random uint64) {
	run, count := w.run, uint64(0)
	name := func(category string, at time.Time) string {
		count++
		if run.TorchX {
			return fmt.Sprintf("%s/%d", category, at.UnixNano()+int64(count))
		}
		return fmt.Sprintf("%s/%019d-%016x", category, at.UnixNano()+int64(count), random+count)
	}
	w.addJSON(name("metadata", run.Started), run.Started, "metadata", run.Begin)
	end := run.Started
	if run.End != nil {
		end = run.Ended
		w.addJSON(name("metadata", end), end, "metadata", run.End)
	}
	for _, a := range run.Artifacts {
		var meta any
		if a.Metadata != nil {
			meta = a.Metadata
		}
		w.addJSON(name("artifacts", end), end, "name", a.Name, "path", a.Path, "metadata", meta)
	}
	if run.TorchX {
		return
	}
	command, _ := run.Begin.Get(tracker.KeyCommand)
	w.addJSON("heirloom/attempts/000001/start", run.Started, "time", stamp(run.Started), "command", command,
		"dir", "/home/user/project", "host", "node17", "user", run.Begin.Text(tracker.KeyUser), "pid", 4711)
	if run.End != nil {
		w.addJSON("heirloom/attempts/000001/end", end, "time", stamp(end), "state", string(run.State), "exit_code", run.ExitCode)
	}
}

// links writes TorchX's text files, and the objects beside them.
func (w *objects) links() {
	lines := map[tracker.RunID]string{}
	for _, s := range w.run.Sources {
		lines[s.ID] += s.Artifact + "\n"
		if w.run.TorchX {
			continue
		}
		pairs := []any{"time", stamp(s.Time)}
		for _, p := range [][2]string{{"role", string(s.Role)}, {"uri", s.URI}, {"name", s.Name}, {"version", s.Version}, {"digest", s.Digest}} {
			if p[1] != "" {
				pairs = append(pairs, p[0], p[1])
			}
		}
		artifact := "="
		if s.Artifact != "" {
			artifact = base32.StdEncoding.EncodeToString([]byte(s.Artifact))
		}
		w.addJSON("heirloom/links/"+s.ID.Encode()+"/"+artifact, w.run.Started, pairs...)
	}
	for id, names := range lines {
		w.add("sources/"+id.Encode(), []byte(names), w.run.Started)
	}
}
