"""Answers, one JSON line for one, what TorchX's runner and specs make of what they are asked."""

import dataclasses
import inspect
import io
import contextlib
import json
import sys
import typing

from torchx import specs
from torchx.runner import api as runner_api
from torchx.schedulers import api as scheduler_api
from torchx.schedulers.local_scheduler import create_scheduler
from torchx.specs import named_resources_generic
from torchx.specs.api import is_started as started
from torchx.specs.api import parse_app_handle

TYPES = {
    "str": str, "int": int, "float": float, "bool": bool,
    "list[str]": typing.List[str], "dict[str, str]": typing.Dict[str, str],
}


def options(listed):
    opts = specs.runopts()
    for o in listed:
        opts.add(o["name"], type_=TYPES[o["type"]], help=o["help"], default=o.get("default"), required=o.get("required", False))
    return opts


def substitute(q):
    return specs.macros.Values(**q["values"]).substitute(q["text"])


def apply(q):
    role = specs.Role(name="r", image="", args=q["args"], env=q["env"], metadata=q["metadata"])
    role = specs.macros.Values(**q["values"]).apply(role)
    return {"args": role.args, "env": role.env, "metadata": role.metadata}


def handle(q):
    return list(parse_app_handle(q["text"]))


def config(q):
    return options(q["options"]).cfg_from_str(q["text"])


def resolve(q):
    return options(q["options"]).resolve(q["config"])


def usage(q):
    return repr(options(q["options"]))


def mounts(q):
    return [{"type": m.__class__.__name__, **dataclasses.asdict(m)} for m in specs.parse_mounts(q["args"])]


def validate(q):
    app = q["app"]
    roles = [specs.Role(**r) for r in app["roles"]]
    with runner_api.Runner("test", {"local": create_scheduler}) as runner:
        runner.dryrun(specs.AppDef(name=app["name"], roles=roles), "local", {})


def no_resource(q):
    class Bare(scheduler_api.Scheduler):
        def schedule(self, dryrun_info): ...
        def _submit_dryrun(self, app, cfg): ...
        def describe(self, app_id): ...
        def list(self): ...
        def _cancel_existing(self, app_id): ...
    Bare("bare", "s")._validate(specs.AppDef(name="a", roles=[specs.Role(name="r", image="img")]), "bare")


def unknown(q):
    raise specs.UnknownAppException(q["handle"]) if "handle" in q else specs.UnknownSchedulerException(q["scheduler"])


def states(q):
    return {s.name: [s.value, specs.is_terminal(s), started(s)] for s in specs.AppState}


def resources(q):
    return {name: [r().cpu, r().gpu, r().memMB] for name, r in named_resources_generic.NAMED_RESOURCES.items()}


CLASSES = {
    "Runner": runner_api.Runner, "Scheduler": scheduler_api.Scheduler, "AppDef": specs.AppDef, "Role": specs.Role,
    "Resource": specs.Resource, "runopts": specs.runopts, "runopt": specs.runopt, "AppStatus": specs.AppStatus, "RoleStatus": specs.RoleStatus,
    "ReplicaStatus": specs.ReplicaStatus, "AppDryRunInfo": specs.AppDryRunInfo, "DescribeAppResponse": scheduler_api.DescribeAppResponse,
    "ListAppResponse": scheduler_api.ListAppResponse, "RetryPolicy": specs.RetryPolicy, "AppState": specs.AppState,
    "macros": specs.macros, "Stream": scheduler_api.Stream, "BindMount": specs.BindMount, "VolumeMount": specs.VolumeMount,
    "DeviceMount": specs.DeviceMount,
}


def names(q):
    """All methods with their parameters, and all fields."""
    found = []
    for name, cls in CLASSES.items():
        plain = not dataclasses.is_dataclass(cls) and not issubclass(cls, (str, int))
        members = set(getattr(cls, "__dataclass_fields__", {}))
        if plain:
            found += [f"{name}({p})" for p in parameters(cls.__init__)]
        for m, value in inspect.getmembers(cls):
            if m.startswith("_") and m not in ("_validate", "_submit_dryrun", "_run_opts", "_cancel_existing"):
                continue
            if issubclass(cls, (str, int)) and not isinstance(value, cls):
                continue
            members.add(m)
            if inspect.isfunction(value):
                members.update(f"{m}({p})" for p in parameters(value))
        found += [f"{name}.{m}" for m in members]
    return sorted(found)


def parameters(function):
    return [p for p in inspect.signature(function).parameters if p not in ("self", "cls", "args", "kwargs")]


def main():
    asked = {f.__name__: f for f in (substitute, apply, handle, config, resolve, usage, mounts, validate, no_resource, unknown, states, resources, names)}
    out = sys.stdout
    for line in sys.stdin:
        q = json.loads(line)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                answer = {"value": asked[q["ask"]](q)}
            except Exception as e:
                answer = {"error": f"{type(e).__name__}", "text": str(e)}
        print(json.dumps(answer), file=out, flush=True)


main()
