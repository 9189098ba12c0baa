"""Drives TorchX's FsspecTracker, one JSON request on each line of stdin, each with an answer.

torchx_serve.py PROTOCOL [JSON OPTIONS]

["open", ROOT]                          chooses a root
["metadata", RUN, {...}]                adds; the answer to all of these is null
["artifact", RUN, NAME, PATH, META]
["source", RUN, SOURCE, NAME or null]
["view", [RUN, ...], [NAME, ...]]       answers with all that TorchX sees of them
"""

import json
import sys

import fsspec
from torchx.tracker.backend.fsspec import FsspecTracker

fs = fsspec.filesystem(sys.argv[1], **json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}"))
tracker = None


def links(sources):
    return [[s.source_run_id, s.artifact_name or ""] for s in sources]


def view(runs, names):
    fs.invalidate_cache()
    return {
        "run_ids": sorted(tracker.run_ids()),
        "runs": {
            run: {
                "metadata": dict(tracker.metadata(run)),
                "artifacts": {a.name: [a.path, a.metadata] for a in tracker.artifacts(run).values()},
                "sources": links(tracker.sources(run)),
                "named": {name: links(tracker.sources(run, name)) for name in names},
                "children": sorted(tracker.run_ids(parent_run_id=run)),
            }
            for run in runs
        },
    }


def answer(verb, *rest):
    global tracker
    if verb == "view":
        return view(*rest)
    if verb == "open":
        fs.invalidate_cache()
        tracker = FsspecTracker(fs, rest[0])
    elif verb == "metadata":
        tracker.add_metadata(rest[0], **rest[1])
    elif verb == "artifact":
        tracker.add_artifact(*rest)
    else:
        tracker.add_source(*rest)


for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
