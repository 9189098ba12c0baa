"""Writes checkpoints with the libraries themselves, one after the other, until it is killed: write.py MODE DIRECTORY."""
import json
import os
import sys

import numpy as np

mode, root = sys.argv[1:]
size = 200_000


def arrays(step, n=4):
    random = np.random.default_rng(step)
    return {f"w{i}": random.random(size) for i in range(n)}


def safetensors(step):
    from safetensors.numpy import save_file

    save_file(arrays(step), f"{root}/step-{step}.safetensors")


def sharded(step):
    from safetensors.numpy import save_file

    home = f"{root}/step-{step}"
    os.mkdir(home)
    names = [f"model-{i + 1:05d}-of-00003.safetensors" for i in range(3)]
    for i, name in enumerate(names):
        save_file({f"w{i}": arrays(step, 3)[f"w{i}"]}, f"{home}/{name}")
    with open(f"{home}/model.safetensors.index.json", "w") as f:
        json.dump({"metadata": {"total_size": 8 * size * 3}, "weight_map": {f"w{i}": name for i, name in enumerate(names)}}, f)


def npz(step):
    np.savez(f"{root}/step-{step}.npz", **arrays(step))


def h5(step):
    import h5py

    with h5py.File(f"{root}/step-{step}.h5", "w") as f:
        for name, values in arrays(step).items():
            f.create_group(name).create_dataset("kernel", data=values)


class Orbax:
    def __init__(self):
        import orbax.checkpoint as ocp

        self.ocp = ocp
        self.manager = ocp.CheckpointManager(root, options=ocp.CheckpointManagerOptions(enable_async_checkpointing=False))

    def __call__(self, step):
        args = self.ocp.args
        self.manager.save(step, args=args.Composite(state=args.StandardSave(arrays(step)), meta=args.JsonSave({"step": step})))


save = Orbax() if mode == "orbax" else globals()[mode]
print("ready", flush=True)
for step in range(1, 10_000):
    save(step)
    print(step, flush=True)
