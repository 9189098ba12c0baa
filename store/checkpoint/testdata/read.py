"""Reads checkpoints with the libraries themselves: read.py MODE PATH... prints a line for each, "ok" or what is wrong."""
import json
import os
import sys

import numpy as np


def wanted(step, n=4):
    random = np.random.default_rng(step)
    return {f"w{i}": random.random(200_000) for i in range(n)}


def same(got, step, n=4):
    for name, values in wanted(step, n).items():
        if not np.array_equal(got[name], values):
            raise ValueError(f"{name} differs")


def step_of(path):
    return int(os.path.basename(path).split("-")[-1].split(".")[0])


def safetensors(path):
    from safetensors.numpy import load_file

    same(load_file(path), step_of(path))


def sharded(path):
    from safetensors.numpy import load_file

    home = os.path.dirname(path)
    with open(path) as f:
        index = json.load(f)["weight_map"]
    same({name: load_file(f"{home}/{file}")[name] for name, file in index.items()}, step_of(home), 3)


def npz(path):
    with np.load(path) as f:
        same(f, step_of(path))


def h5(path):
    import h5py

    with h5py.File(path) as f:
        same({name: f[name]["kernel"][:] for name in f}, step_of(path))


def orbax(path):
    import orbax.checkpoint as ocp

    same(ocp.StandardCheckpointer().restore(os.path.abspath(path) + "/state"), step_of(path))


for path in sys.argv[2:]:
    try:
        globals()[sys.argv[1]](path)
        print("ok", flush=True)
    except Exception as e:
        print(f"{type(e).__name__}: {e}".replace("\n", " "), flush=True)
