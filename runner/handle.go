package runner

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Handle names a submitted app: scheduler://session/app. Of what a Runner
// submits it is the run id.
type Handle struct {
	Scheduler string
	Session   string // "" is legal, as in TorchX
	App       string // name-random, or what the scheduler itself calls it
}

// ParseHandle reads scheduler://[session]/app. None of the parts holds a slash or
// control character, so there is one way to read it, or is "." or "..", which mean
// directories wherever it becomes a path. The error has kind store.ErrInvalid.
func ParseHandle(s string) (Handle, error) {
	scheduler, rest, ok := strings.Cut(s, "://")
	session, app, slash := strings.Cut(rest, "/")
	h := Handle{Scheduler: scheduler, Session: session, App: app}
	if !ok || !slash || !h.legal() {
		return Handle{}, &store.Error{Op: "read handle", Key: s, Kind: store.ErrInvalid,
			Err: fmt.Errorf("%q is not of the form: <scheduler_backend>://<session_name>/<app_id>", s)}
	}
	return h, nil
}

func (h Handle) legal() bool {
	if h.Scheduler == "" || h.App == "" || strings.Contains(h.Scheduler, ":") {
		return false
	}
	for _, part := range []string{h.Scheduler, h.Session, h.App} {
		if part == "." || part == ".." || strings.Contains(part, "/") || strings.ContainsFunc(part, unicode.IsControl) || !utf8.ValidString(part) {
			return false
		}
	}
	return true
}

// String is what ParseHandle reads.
func (h Handle) String() string { return h.Scheduler + "://" + h.Session + "/" + h.App }

// RunID is the handle as the id of a run.
func (h Handle) RunID() tracker.RunID { return tracker.RunID(h.String()) }

// MarshalText writes the handle as String does; a zero one is empty.
func (h Handle) MarshalText() ([]byte, error) {
	if h == (Handle{}) {
		return nil, nil
	}
	return []byte(h.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (h *Handle) UnmarshalText(text []byte) (err error) {
	*h = Handle{}
	if len(text) > 0 {
		*h, err = ParseHandle(string(text))
	}
	return err
}

// ParseReplicas reads HANDLE[/ROLE[/REPLICA,REPLICA…]], which is how logs are
// asked for in TorchX. An empty role is all roles, no replicas are all of them.
// The error has kind store.ErrInvalid.
func ParseReplicas(s string) (h Handle, role string, replicas []int, err error) {
	scheduler, rest, _ := strings.Cut(s, "://")
	parts := strings.Split(rest, "/")
	if len(parts) < 2 || len(parts) > 4 {
		_, err = ParseHandle(s)
		if err == nil {
			err = fmt.Errorf("read %q: more than HANDLE/ROLE/REPLICAS: %w", s, store.ErrInvalid)
		}
		return Handle{}, "", nil, err
	}
	if h, err = ParseHandle(scheduler + "://" + strings.Join(parts[:2], "/")); err != nil {
		return Handle{}, "", nil, err
	}
	if len(parts) > 2 {
		if role = parts[2]; role == "" {
			return Handle{}, "", nil, fmt.Errorf("read %q: the role is empty: %w", s, store.ErrInvalid)
		}
	}
	if len(parts) > 3 {
		replicas, err = parseReplicaList(parts[3])
	}
	if err != nil {
		return Handle{}, "", nil, fmt.Errorf("read %q: %w", s, err)
	}
	return h, role, replicas, nil
}

func parseReplicaList(s string) ([]int, error) {
	var list []int
	for _, field := range strings.Split(s, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || strconv.Itoa(n) != field {
			return nil, fmt.Errorf("%q is no number of a replica: %w", field, store.ErrInvalid)
		}
		list = append(list, n)
	}
	return list, nil
}
