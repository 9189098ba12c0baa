package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
)

// Resource is what one replica needs. The zero value asks for nothing, which is
// TorchX's NULL_RESOURCE.
type Resource struct {
	CPU          int               `json:"cpu"`                    // logical; 0 = not said
	GPU          int               `json:"gpu"`                    // 0 = none
	MemMB        int               `json:"memMB"`                  // 0 = not said
	Capabilities map[string]string `json:"capabilities,omitempty"` // the scheduler's own, as {"arch": "arm64"}
	Devices      map[string]int    `json:"devices,omitempty"`      // how many of each, as {"vpc.amazonaws.com/efa": 1}
	Tags         map[string]string `json:"tags,omitempty"`         // for people
}

// IsZero says whether nothing is asked for.
func (r Resource) IsZero() bool {
	return r.CPU == 0 && r.GPU == 0 && r.MemMB == 0 && len(r.Capabilities) == 0 && len(r.Devices) == 0 && len(r.Tags) == 0
}

// Clone is a copy that shares nothing that can be changed.
func (r Resource) Clone() Resource {
	r.Capabilities, r.Devices, r.Tags = maps.Clone(r.Capabilities), maps.Clone(r.Devices), maps.Clone(r.Tags)
	return r
}

// With is a copy with these capabilities added; they win over its own.
func (r Resource) With(capabilities map[string]string) Resource {
	r = r.Clone()
	if r.Capabilities == nil && len(capabilities) > 0 {
		r.Capabilities = map[string]string{}
	}
	maps.Copy(r.Capabilities, capabilities)
	return r
}

// limits are those of a replica that is held to what it asks for.
func (r Resource) limits() process.Limits {
	return process.Limits{CPUs: r.CPU, Memory: int64(r.MemMB) << 20}
}

func (r Resource) check() error {
	for _, n := range []struct {
		name string
		n    int
	}{{"cpu", r.CPU}, {"gpu", r.GPU}, {"memMB", r.MemMB}} {
		if n.n < 0 {
			return fmt.Errorf("%s is %d, less than 0: %w", n.name, n.n, store.ErrInvalid)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Devices)) {
		if r.Devices[name] < 0 {
			return fmt.Errorf("device %s is %d, less than 0: %w", name, r.Devices[name], store.ErrInvalid)
		}
	}
	return nil
}

// NamedResources are resources by name, as "gpu_small".
type NamedResources map[string]Resource

// Get returns a copy of the resource of that name. The error has kind
// store.ErrNotExist and lists the names.
func (n NamedResources) Get(name string) (Resource, error) {
	if r, ok := n[name]; ok {
		return r.Clone(), nil
	}
	names := slices.Sorted(maps.Keys(n))
	return Resource{}, &store.Error{Op: "find named resource", Key: name, Kind: store.ErrNotExist,
		Err: fmt.Errorf("no such named resource%s; known: %s", suggest(name, names), strings.Join(names, ", "))}
}
