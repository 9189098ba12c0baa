"""A job as TorchX's documentation writes one: nothing in it knows heirloom."""
import os

from torchx.tracker.api import AppRun

run = AppRun.run_from_env()
run.add_metadata(lr=0.01, epochs=3)
run.add_artifact("model", "/tmp/model.pt", {"accuracy": 0.97})
run.add_source("local://torchx/dataset-1", "train")
print("run", run.id)
print("sources", sorted((s.parent.id, s.artifact_name) for s in run.sources()))
