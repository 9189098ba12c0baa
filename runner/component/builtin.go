package component

import (
	"fmt"
	"maps"

	"github.com/heirloom-ml/heirloom/runner"
)

// Heirloom is the entrypoint of roles that run heirloom itself. Schedulers put the
// directory of their own binary last into the PATH of what they start, so that it is found
// where nobody installed it.
const Heirloom = "heirloom"

// Options are what components are made with. Nil is allowed.
type Options struct {
	// LogLevel is LOGLEVEL of the caller's environment, handed on by utils.sh and
	// dist.*; "" = WARNING.
	LogLevel string
	// Resources are found by name, beside GenericResources, over which they win.
	Resources runner.NamedResources
}

// settings are Options, completed.
type settings struct {
	logLevel  string
	resources runner.NamedResources
}

func (o *Options) settings() settings {
	s := settings{logLevel: "WARNING", resources: GenericResources()}
	if o != nil {
		if o.LogLevel != "" {
			s.logLevel = o.LogLevel
		}
		maps.Copy(s.resources, o.Resources)
	}
	return s
}

// Builtin lists the components that are built in, sorted by name. They follow
// TorchX's of the same names (components/utils.py, components/dist.py).
func Builtin(o *Options) []*Component {
	s := o.settings()
	return []*Component{s.ddp(), s.spmd(), s.binary(), copyFile(), echo(), s.python(), s.sh(), touch()}
}

// GenericResources are TorchX's generic named resources: a share of usual machines.
func GenericResources() runner.NamedResources {
	const gib = 1024
	return runner.NamedResources{
		"gpu.small":  {CPU: 8, GPU: 1, MemMB: 32 * gib},
		"gpu.medium": {CPU: 16, GPU: 2, MemMB: 64 * gib},
		"gpu.large":  {CPU: 32, GPU: 4, MemMB: 128 * gib},
		"gpu.xlarge": {CPU: 64, GPU: 8, MemMB: 256 * gib},
		"cpu.nano":   {CPU: 1, MemMB: 512},
		"cpu.micro":  {CPU: 1, MemMB: gib},
		"cpu.small":  {CPU: 1, MemMB: 2 * gib},
		"cpu.medium": {CPU: 2, MemMB: 4 * gib},
		"cpu.large":  {CPU: 2, MemMB: 8 * gib},
		"cpu.xlarge": {CPU: 8, MemMB: 32 * gib},
	}
}

// oneRole is an App of one role.
func oneRole(name string, role runner.Role) runner.App {
	return runner.App{Name: name, Roles: []runner.Role{role}}
}

// resource is what the parameters cpu, gpu, memMB and h ask for; h wins.
func (s settings) resource(v Values) (runner.Resource, error) {
	if name := v.text("h"); name != "" {
		r, err := s.resources.Get(name)
		if err != nil {
			return r, fmt.Errorf("-h %s: %w", name, err)
		}
		return r, nil
	}
	return runner.Resource{CPU: v.number("cpu"), GPU: v.number("gpu"), MemMB: v.number("memMB")}, nil
}

func (s settings) withLogLevel(env map[string]string) map[string]string {
	all := map[string]string{"LOGLEVEL": s.logLevel}
	maps.Copy(all, env)
	return all
}

// The parameters that several components have.

func imageParam() Param {
	return Param{Name: "image", Type: String, Help: "image to use, where the scheduler has such"}
}

func replicasParam() Param {
	return Param{Name: "num_replicas", Type: Int, Default: 1, Help: "number of replicas"}
}

func nameParam(name string) Param {
	return Param{Name: "name", Type: String, Default: name, Help: "name of the job"}
}

func restParam(name, help string) Param { return Param{Name: name, Type: List, Rest: true, Help: help} }

func envParam() Param {
	return Param{Name: "env", Type: Map, Help: "variables of the environment"}
}

func retriesParam() Param {
	return Param{Name: "max_retries", Type: Int, Default: 0, Help: "how often it is started again after a failure"}
}

func mountsParam() Param {
	return Param{Name: "mounts", Type: List, Help: "what to mount: type=bind|volume|device,src=PATH,dst=PATH[,readonly]; another type= begins the next"}
}

func (s settings) resourceParams(cpu int) []Param {
	return []Param{
		{Name: "cpu", Type: Int, Default: cpu, Help: "cores of a replica"},
		{Name: "gpu", Type: Int, Default: 0, Help: "GPUs of a replica"},
		{Name: "memMB", Type: Int, Default: 1024, Help: "memory of a replica in MB"},
		{Name: "h", Type: String, Help: "a named resource in place of cpu, gpu and memMB"},
	}
}
