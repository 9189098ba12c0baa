package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/heirloom-ml/heirloom/tracker"
)

// App is what is run: one or more roles, started together. It is TorchX's AppDef,
// and its JSON has the same names.
type App struct {
	Name     string            `json:"name"`
	Roles    []Role            `json:"roles"`
	Metadata map[string]string `json:"metadata,omitempty"` // for the scheduler; nil = none
}

// Role is a program and how many replicas of it run. Name, Entrypoint and
// NumReplicas are needed, the rest may be zero.
type Role struct {
	Name       string            `json:"name"`
	Image      string            `json:"image,omitempty"` // what the scheduler makes of it; "" = the working directory
	Entrypoint string            `json:"entrypoint"`      // the program; without a slash it is looked up in PATH
	Args       []string          `json:"args,omitempty"`  // macros are replaced
	Env        map[string]string `json:"env,omitempty"`   // macros are replaced in the values

	NumReplicas int         `json:"num_replicas"`           // 1 or more
	MinReplicas int         `json:"min_replicas,omitempty"` // as few as these will do; 0 = NumReplicas
	MaxRetries  int         `json:"max_retries,omitempty"`  // after a failure
	RetryPolicy RetryPolicy `json:"retry_policy,omitempty"` // "" = RetryApplication

	Resource Resource          `json:"resource,omitzero"`  // of each replica; zero = the scheduler's own, where it has one
	PortMap  map[string]int    `json:"port_map,omitempty"` // ports by what they are for
	Metadata *tracker.Metadata `json:"metadata,omitempty"` // for the scheduler, keys as in "slurm.x"; macros are replaced in its strings
	Mounts   []Mount           `json:"mounts,omitempty"`

	Workspace []WorkspaceDir `json:"workspace,omitempty"` // directories that the replicas find again, later ones over earlier

	// Override, unless nil, is called on the plan's copy of the role when planning
	// begins, and may set what is costly to find out or was not known before. It does
	// not travel with the plan's JSON.
	Override func(ctx context.Context, role *Role) error `json:"-"`

	// PreProcess, unless nil, is called at the end of planning, role after role; it may
	// change the plan's request. It does not travel with the plan's JSON.
	PreProcess PreProcess `json:"-"`
}

// PreProcess changes the request of a plan for one of its roles.
type PreProcess func(ctx context.Context, scheduler string, plan *Plan) error

// RetryPolicy says what is started again when a replica fails.
type RetryPolicy string

// The retry policies. Every scheduler has RetryApplication.
const (
	RetryReplica     RetryPolicy = "REPLICA"     // the replica that failed
	RetryApplication RetryPolicy = "APPLICATION" // the whole app
	RetryRole        RetryPolicy = "ROLE"        // the replicas of its role
)

// Role gives the role of that name, nil if there is none.
func (a *App) Role(name string) *Role {
	for i := range a.Roles {
		if a.Roles[i].Name == name {
			return &a.Roles[i]
		}
	}
	return nil
}

// RoleNames lists the names of the roles, in order.
func (a *App) RoleNames() []string {
	names := make([]string, len(a.Roles))
	for i, r := range a.Roles {
		names[i] = r.Name
	}
	return names
}

// Replicas is the number of replicas of all roles.
func (a *App) Replicas() int {
	n := 0
	for _, r := range a.Roles {
		n += r.NumReplicas
	}
	return n
}

// Clone is a copy that shares nothing that can be changed.
func (a App) Clone() App {
	a.Metadata = maps.Clone(a.Metadata)
	a.Roles = slices.Clone(a.Roles)
	for i := range a.Roles {
		a.Roles[i] = a.Roles[i].Clone()
	}
	return a
}

// Clone is a copy that shares nothing that can be changed.
func (r Role) Clone() Role {
	r.Args, r.Mounts = slices.Clone(r.Args), slices.Clone(r.Mounts)
	r.Env, r.PortMap = maps.Clone(r.Env), maps.Clone(r.PortMap)
	r.Resource = r.Resource.Clone()
	r.Metadata = cloneObject(r.Metadata)
	r.Workspace = slices.Clone(r.Workspace)
	return r
}

// Policy is the retry policy that counts.
func (r *Role) Policy() RetryPolicy {
	if r.RetryPolicy == "" {
		return RetryApplication
	}
	return r.RetryPolicy
}

// Fewest is the number of replicas that the role needs.
func (r *Role) Fewest() int {
	if r.MinReplicas == 0 {
		return r.NumReplicas
	}
	return r.MinReplicas
}

func cloneObject(o *tracker.Metadata) *tracker.Metadata {
	if o == nil {
		return nil
	}
	return cloneValue(o).(*tracker.Metadata)
}

func cloneValue(v any) any { return mapStrings(v, func(s string) string { return s }) }
