package component

import (
	"fmt"

	"github.com/heirloom-ml/heirloom/runner"
)

// small is what utils.echo, touch and copy ask for.
func small() runner.Resource { return runner.Resource{CPU: 1, MemMB: 1024} }

func echo() *Component {
	return &Component{
		Name: "utils.echo",
		Help: "Print a message (calls echo).",
		Params: []Param{
			{Name: "msg", Type: String, Default: "hello world", Help: "what to print"},
			imageParam(), replicasParam(),
		},
		make: func(v Values) (runner.App, error) {
			return oneRole("echo", runner.Role{
				Name: "echo", Image: v.text("image"), Entrypoint: "echo", Args: []string{v.text("msg")},
				NumReplicas: v.number("num_replicas"), Resource: small(),
			}), nil
		},
	}
}

func touch() *Component {
	return &Component{
		Name:   "utils.touch",
		Help:   "Make a file, or set its time (calls touch).",
		Params: []Param{{Name: "file", Type: String, Required: true, Help: "the file"}, imageParam()},
		make: func(v Values) (runner.App, error) {
			return oneRole("touch", runner.Role{
				Name: "touch", Image: v.text("image"), Entrypoint: "touch", Args: []string{v.text("file")},
				NumReplicas: 1, Resource: small(),
			}), nil
		},
	}
}

func (s settings) sh() *Component {
	return &Component{
		Name: "utils.sh",
		Help: "Run a command by sh.\n\nEach argument stays one word: the shell expands neither variables nor patterns in it.",
		Params: append([]Param{
			restParam("args", "the command and its arguments"), imageParam(), replicasParam()},
			append(s.resourceParams(1), envParam(), retriesParam(), mountsParam(),
				Param{Name: "entrypoint", Type: String, Default: "sh", Help: "the shell, called with -c"})...),
		make: func(v Values) (runner.App, error) {
			mounts, err := runner.ParseMounts(v.list("mounts"))
			if err != nil {
				return runner.App{}, err
			}
			resource, err := s.resource(v)
			return oneRole("sh", runner.Role{
				Name: "sh", Image: v.text("image"), Entrypoint: v.text("entrypoint"), Args: []string{"-c", joinQuoted(v.list("args"))},
				NumReplicas: v.number("num_replicas"), Resource: resource, Env: s.withLogLevel(v.pairs("env")),
				MaxRetries: v.number("max_retries"), Mounts: mounts,
			}), err
		},
	}
}

func (s settings) python() *Component {
	return &Component{
		Name: "utils.python",
		Help: "Run a Python module, command or script.\n\nExactly one of -m, -c and --script says which. \"--\" goes before the program's own arguments.",
		Params: append([]Param{
			restParam("args", "arguments of the program"),
			{Name: "m", Type: String, Help: "run a library module as a script"},
			{Name: "c", Type: String, Help: "program passed as text"},
			{Name: "script", Type: String, Help: "a .py file to run"},
			imageParam(), nameParam("torchx_utils_python")},
			append(s.resourceParams(1), replicasParam())...),
		make: func(v Values) (runner.App, error) {
			args, err := pythonArgs(v)
			if err != nil {
				return runner.App{}, err
			}
			resource, err := s.resource(v)
			role := runner.Role{
				Name: "python", Image: v.text("image"), Entrypoint: "python", Args: args,
				NumReplicas: v.number("num_replicas"), Resource: resource,
			}
			if v.has("m") {
				role.Env = map[string]string{"HYDRA_MAIN_MODULE": v.text("m")}
			}
			return oneRole(v.text("name"), role), err
		},
	}
}

func pythonArgs(v Values) ([]string, error) {
	var args []string
	n := 0
	for _, way := range []string{"m", "c", "script"} {
		switch {
		case !v.has(way):
			continue
		case way == "script":
			args = []string{v.text(way)}
		default:
			args = []string{"-" + way, v.text(way)}
		}
		n++
	}
	if n != 1 {
		return nil, fmt.Errorf("exactly one of -m, -c and --script is needed, %d are given", n)
	}
	return append(args, v.list("args")...), nil
}

func (s settings) binary() *Component {
	return &Component{
		Name: "utils.binary",
		Help: "Run a program.",
		Params: append([]Param{
			restParam("args", "arguments of the program"),
			{Name: "entrypoint", Type: String, Required: true, Help: "the program"},
			nameParam("torchx_utils_binary"), replicasParam()}, s.resourceParams(1)...),
		make: func(v Values) (runner.App, error) {
			resource, err := s.resource(v)
			return oneRole(v.text("name"), runner.Role{
				Name: "binary", Entrypoint: v.text("entrypoint"), Args: v.list("args"),
				NumReplicas: v.number("num_replicas"), Resource: resource,
			}), err
		},
	}
}

// copyFile copies by heirloom itself, so that source and destination may be any of
// its stores.
func copyFile() *Component {
	return &Component{
		Name: "utils.copy",
		Help: "Copy a file from one place to another.\n\nBoth are paths or URLs of any store that heirloom knows.",
		Params: []Param{
			{Name: "src", Type: String, Required: true, Help: "the file: a path or URL"},
			{Name: "dst", Type: String, Required: true, Help: "where the copy goes: a path or URL"},
			imageParam(),
		},
		make: func(v Values) (runner.App, error) {
			return oneRole("torchx-utils-copy", runner.Role{
				Name: "torchx-utils-copy", Image: v.text("image"), Entrypoint: Heirloom,
				Args:        []string{"store", "copy", "--", v.text("src"), v.text("dst")},
				NumReplicas: 1, Resource: small(),
			}), nil
		},
	}
}
