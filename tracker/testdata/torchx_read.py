"""Prints everything that TorchX's FsspecTracker sees in a root, as JSON."""

import json
import os
import sys

import fsspec
from torchx.tracker.backend.fsspec import FsspecTracker

root = sys.argv[1]
tracker = FsspecTracker(fsspec.filesystem("file"), root)


def run(run_id):
    return {
        "metadata": dict(tracker.metadata(run_id)),
        "artifacts": {
            a.name: {"path": a.path, "metadata": a.metadata}
            for a in tracker.artifacts(run_id).values()
        },
        "sources": [[s.source_run_id, s.artifact_name] for s in tracker.sources(run_id)],
        "children": sorted(tracker.run_ids(parent_run_id=run_id)),
        "descendants": descendants(run_id),
    }


def descendants(run_id):
    """What a TorchX that reads the mirror finds, with its own reader of such files."""
    path = tracker._path_builder.with_run_id(run_id).with_subpath("descendants").path()
    if not os.path.isdir(path):
        return []
    found = []
    for name in sorted(os.listdir(path)):
        found += [
            [s.source_run_id, s.artifact_name]
            for s in tracker._read_source_file(os.path.join(path, name))
        ]
    return found


ids = sorted(tracker.run_ids())
print(json.dumps({"run_ids": ids, "runs": {i: run(i) for i in ids}}))
