"""Writes runs with TorchX's FsspecTracker, from a list of calls on stdin."""

import json
import sys

import fsspec
from torchx.tracker.backend.fsspec import FsspecTracker

tracker = FsspecTracker(fsspec.filesystem("file"), sys.argv[1])
for call in json.load(sys.stdin):
    verb, run_id, rest = call[0], call[1], call[2:]
    if verb == "metadata":
        tracker.add_metadata(run_id, **rest[0])
    elif verb == "artifact":
        tracker.add_artifact(run_id, *rest)
    else:
        tracker.add_source(run_id, *rest)
