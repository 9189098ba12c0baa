package component

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/heirloom-ml/heirloom/runner"
)

const ddpHelp = `Run a distributed job by torchrun (torch.distributed.run), which meets at the first node.

-j says how many nodes and how many processes on each: 2x4, 4 for one node, or
1:2x4 for one to two nodes. Each node runs torchrun, which starts the processes
and sets RANK, WORLD_SIZE, MASTER_ADDR and the like. "--" goes before the
program's own arguments.`

const spmdHelp = `Run the same program on each node and process, with torchrun's environment but without torch.

-j 2x4 starts four processes on each of two nodes. heirloom itself starts them
and sets RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR,
MASTER_PORT and the rest that init_process_group("env://") reads. When one of them
fails, the others of its node are ended. A .py script and a module are run by
python, any other script as a program. With -h of a machine with GPUs, -j 2 means
one process for each GPU. "--" goes before the program's own arguments.`

// debugVariables are set by --debug.
func debugVariables() map[string]string {
	return map[string]string{
		"CUDA_LAUNCH_BLOCKING":       "1",
		"NCCL_DESYNC_DEBUG":          "1",
		"TORCH_DISTRIBUTED_DEBUG":    "DETAIL",
		"TORCH_SHOW_CPP_STACKTRACES": "1",
	}
}

// program gives what dist.* runs and its name.
func program(v Values) (name string, words []string, err error) {
	script, module := v.text("script"), v.text("m")
	switch {
	case (script == "") == (module == ""):
		return "", nil, errors.New("exactly one of --script and -m is needed")
	case script != "":
		words = []string{script}
	default:
		words = []string{"-m", module}
	}
	return programName(script, module), words, nil
}

func (s settings) distParams(j string, more ...Param) []Param {
	return append([]Param{
		restParam("args", "arguments of the program"),
		{Name: "script", Type: String, Help: "the script to run"},
		{Name: "m", Type: String, Help: "the Python module to run"},
		{Name: "j", Type: String, Default: j, Help: "nodes and processes on each: [[MIN:]NODESx]PROCESSES"},
		{Name: "name", Type: String, Default: "/", Help: "EXPERIMENT/RUN, each of which may be left out"},
		imageParam(), envParam(), retriesParam(), mountsParam(),
		{Name: "rdzv_port", Type: Int, Default: 29500, Help: "port on the first node at which several nodes meet"},
		{Name: "debug", Type: Bool, Default: false, Help: "set variables that make PyTorch tell more"},
	}, more...)
}

// distRole is the role that dist.ddp and dist.spmd have in common.
func (s settings) distRole(v Values, n nodes) (runner.App, error) {
	name, _, err := program(v)
	if err != nil {
		return runner.App{}, err
	}
	mounts, err := runner.ParseMounts(v.list("mounts"))
	if err != nil {
		return runner.App{}, err
	}
	port := v.number("rdzv_port")
	if port < 0 || port > 65535 {
		return runner.App{}, fmt.Errorf("--rdzv_port %d is no port", port)
	}
	named := parseJobName(v.text("name"), name)
	env := s.withLogLevel(v.pairs("env"))
	env["TORCHX_TRACKING_EXPERIMENT_NAME"] = named.experiment
	if v.is("debug") {
		maps.Copy(env, debugVariables())
	}
	return oneRole(named.run, runner.Role{
		Name: name, Image: v.text("image"), MinReplicas: n.min, NumReplicas: n.max, Env: env,
		PortMap: map[string]int{"c10d": port}, MaxRetries: v.number("max_retries"), Mounts: mounts,
	}), nil
}

func (s settings) ddp() *Component {
	return &Component{
		Name: "dist.ddp",
		Help: ddpHelp,
		Params: s.distParams("1x2", append(s.resourceParams(2),
			Param{Name: "rdzv_backend", Type: String, Default: "c10d", Help: "how several nodes meet: c10d, static, etcd"},
			Param{Name: "tee", Type: Int, Default: 3, Help: "streams that torchrun shows: 0 none, 1 stdout, 2 stderr, 3 both"})...),
		make: func(v Values) (runner.App, error) {
			n, err := parseNodes(v.text("j"))
			if err != nil {
				return runner.App{}, err
			}
			app, err := s.distRole(v, n)
			if err != nil {
				return runner.App{}, err
			}
			role := &app.Roles[0]
			role.Entrypoint, role.Args = "bash", []string{"-c", torchrun(v, n)}
			role.Resource, err = s.resource(v)
			return app, err
		},
	}
}

// torchrun is the command line of a node. The word of the rendezvous is left to the
// shell, so that a variable which is empty on the first node means localhost.
func torchrun(v Values, n nodes) string {
	endpoint := "localhost:0" // one node: any free port
	if n.max > 1 {
		endpoint = fmt.Sprintf("$${%s:=localhost}:%d", runner.MacroRank0Env, v.number("rdzv_port"))
	}
	line := joinQuoted([]string{"torchrun", "--rdzv_backend", v.text("rdzv_backend"), "--rdzv_endpoint"}) + " "
	if n.max > 1 {
		line += endpoint
	} else {
		line += quote(endpoint)
	}
	words := []string{
		"--rdzv_id", runner.MacroAppID, "--nnodes", n.text, "--nproc_per_node", strconv.Itoa(n.perNode),
		"--tee", strconv.Itoa(v.number("tee")), "--role", "",
	}
	if v.text("rdzv_backend") == "static" {
		words = append(words, "--node_rank", runner.MacroReplicaID)
	}
	_, run, _ := program(v) // distRole has checked it
	return line + " " + joinQuoted(append(append(words, run...), v.list("args")...))
}

func (s settings) spmd() *Component {
	return &Component{
		Name:   "dist.spmd",
		Help:   spmdHelp,
		Params: s.distParams("1x1", Param{Name: "h", Type: String, Help: "a named resource: what each node is"}),
		make: func(v Values) (runner.App, error) {
			resource, err := s.resource(v)
			if err != nil {
				return runner.App{}, err
			}
			n, err := spmdNodes(v.text("j"), v.text("h"), resource.GPU)
			if err != nil {
				return runner.App{}, err
			}
			app, err := s.distRole(v, n)
			if err != nil {
				return runner.App{}, err
			}
			role := &app.Roles[0]
			role.Resource, role.Entrypoint, role.Args = resource, Heirloom, ranks(v, n)
			return app, nil
		},
	}
}

// spmdNodes reads -j of dist.spmd, where a lone number is that of the nodes if the
// machine is known to have GPUs. It follows TorchX components/structured_arg.py.
func spmdNodes(text, machine string, gpus int) (nodes, error) {
	n, err := parseNodes(text)
	if err != nil {
		return nodes{}, err
	}
	if n.min != n.max {
		return nodes{}, fmt.Errorf("-j %q: dist.spmd has a fixed number of nodes; dist.ddp may have fewer", text)
	}
	if machine != "" && nodesPattern().FindStringSubmatch(text)[2] == "" {
		if gpus == 0 {
			return nodes{}, fmt.Errorf("-j %q: %s has no GPUs to count the processes by; write %sx8", text, machine, text)
		}
		n = nodes{min: n.perNode, max: n.perNode, perNode: gpus, text: text}
	}
	return n, nil
}

// ranks is what heirloom is told on each node.
func ranks(v Values, n nodes) []string {
	port := v.number("rdzv_port")
	if n.max == 1 {
		port = 0
	}
	words := []string{
		"ranks", "--nodes", strconv.Itoa(n.max), "--node", runner.MacroReplicaID, "--processes", strconv.Itoa(n.perNode),
		"--id", runner.MacroAppID, "--host-from", runner.MacroRank0Env, "--port", strconv.Itoa(port), "--",
	}
	script, module := v.text("script"), v.text("m")
	switch {
	case module != "":
		words = append(words, "python", "-m", module)
	case hasSuffix(script, ".py"):
		words = append(words, "python", script)
	default:
		words = append(words, script)
	}
	return append(words, v.list("args")...)
}
