"""Measures TorchX's FsspecTracker: prints operations per second as JSON.

bench_torchx.py ROOT COUNT [fsync]    with fsync, every file and its directory
                                      is flushed to disk, as heirloom does
"""

import json
import os
import sys
import time

import fsspec
from fsspec.implementations.local import LocalFileSystem
from torchx.tracker.backend.fsspec import FsspecTracker


class Durable(LocalFileSystem):
    """Flushes a file when it is closed, then the directories it made it in."""

    cachable = False

    def open(self, path, mode="rb", **kwargs):
        f = super().open(path, mode, **kwargs)
        if mode[0] in "wa":
            close = f.close

            def durable_close():
                if not f.closed:
                    f.flush()
                    os.fsync(f.fileno())
                    close()
                    sync_dir(os.path.dirname(path))

            f.close = durable_close
        return f

    def mkdirs(self, path, exist_ok=False):
        missing = []
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            os.mkdir(path)
            sync_dir(os.path.dirname(path))


def sync_dir(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def rate(count, operation):
    start = time.perf_counter()
    for i in range(count):
        operation(i)
    return count / (time.perf_counter() - start)


def main():
    root, count, durable = sys.argv[1], int(sys.argv[2]), "fsync" in sys.argv[3:]
    tracker = FsspecTracker(Durable() if durable else fsspec.filesystem("file"), root)
    runs = [f"local://torchx/bench-{i:04d}" for i in range(max(1, count // 10))]
    rates = {
        "add-metadata/s": rate(count, lambda i: tracker.add_metadata(runs[i % len(runs)], **{f"k{i}": i})),
        "add-artifact/s": rate(count, lambda i: tracker.add_artifact(runs[i % len(runs)], f"a{i}", "/a")),
        "add-source/s": rate(count, lambda i: tracker.add_source(runs[i % len(runs)], f"source-{i}", "m")),
        "read-run/s": rate(len(runs), lambda i: read(tracker, runs[i])),
        "run-ids/s": rate(20, lambda i: list(tracker.run_ids())),
    }
    print(json.dumps(rates))


def read(tracker, run):
    tracker.metadata(run)
    tracker.artifacts(run)
    tracker.sources(run)


main()
