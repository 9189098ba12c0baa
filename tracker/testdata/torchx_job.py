"""A training job as written for TorchX: it knows nothing of heirloom."""

from torchx.tracker.api import AppRun

run = AppRun.run_from_env()
run.add_metadata(lr=0.01, note="naïve 東京", flags=[True, None, 1e-05])
run.add_artifact("model", "/models/1", {"epoch": 6})
run.add_artifact("log", "/logs/1")
run.add_source("local://torchx/prepare-aaa", "train split")
print(run.job_id())
