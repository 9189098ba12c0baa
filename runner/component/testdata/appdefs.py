"""Prints, as JSON, the AppDefs that TorchX's own components make of the arguments on stdin."""
import dataclasses, importlib, json, sys

import torchx
from torchx.specs.builders import materialize_appdef

def role(r):
    return {
        "name": r.name, "image": "" if r.image in (torchx.IMAGE, "<NONE>") else r.image,
        "entrypoint": r.entrypoint, "args": list(r.args), "env": r.env,
        "num_replicas": r.num_replicas, "min_replicas": r.min_replicas or 0, "max_retries": r.max_retries,
        "retry_policy": r.retry_policy.value if hasattr(r.retry_policy, "value") else str(r.retry_policy),
        "resource": {"cpu": r.resource.cpu, "gpu": r.resource.gpu, "memMB": r.resource.memMB},
        "port_map": r.port_map, "mounts": [mount(m) for m in r.mounts],
    }

def mount(m):
    d = {k: (v.value if hasattr(v, "value") else v) for k, v in dataclasses.asdict(m).items()}
    d["type"] = {"BindMount": "bind", "VolumeMount": "volume", "DeviceMount": "device"}[type(m).__name__]
    return d

out = []
for case in json.load(sys.stdin):
    module, fn = case[0].split(".")
    app = materialize_appdef(getattr(importlib.import_module("torchx.components." + module), fn), case[1:])
    out.append({"name": app.name, "roles": [role(r) for r in app.roles], "metadata": app.metadata})
json.dump(out, sys.stdout, indent=1, sort_keys=True)
