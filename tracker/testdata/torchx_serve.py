"""Drives TorchX's FsspecTracker, one JSON request on each line of stdin, each with an answer.

torchx_serve.py PROTOCOL [JSON OPTIONS]

["open", ROOT]                          chooses a root
["metadata", RUN, {...}]                adds; the answer to all of these is null
["artifact", RUN, NAME, PATH, META]
["source", RUN, SOURCE, NAME or null]
["unwritable", RUN]                     adds metadata that JSON cannot hold
["clock", NANOSECONDS or null]          stops the clock, or lets it go
["view", [RUN, ...], [NAME, ...]]       answers with all that TorchX sees of them
["ask", METHOD, ARGUMENT, ...]          answers with what one method of the tracker gives

An exception is answered {"error": "its name: its text"}.
"""

import json
import sys
import time

import fsspec
import torchx.tracker.backend.fsspec as backend

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


class Clock:
    def __init__(self, now):
        self.time_ns = lambda: now


def ask(method, *arguments):
    answer = getattr(tracker, method)(*arguments)
    return links(answer) if method == "sources" else answer


def answer(verb, *rest):
    global tracker
    if verb == "view":
        return view(*rest)
    if verb == "ask":
        return ask(*rest)
    if verb == "open":
        fs.invalidate_cache()
        tracker = backend.FsspecTracker(fs, rest[0])
    elif verb == "clock":
        backend.time = time if rest[0] is None else Clock(rest[0])
    elif verb == "metadata":
        tracker.add_metadata(rest[0], **rest[1])
    elif verb == "unwritable":
        tracker.add_metadata(rest[0], o=object())
    elif verb == "artifact":
        tracker.add_artifact(*rest)
    else:
        tracker.add_source(*rest)


for line in sys.stdin:
    try:
        said = answer(*json.loads(line))
    except Exception as e:
        said = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(said), flush=True)
