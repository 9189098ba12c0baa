"""Measures TorchX's FsspecTracker: prints operations per second as JSON.

bench_torchx.py write PROTOCOL OPTIONS ROOT COUNT [fsync]
    one process; with fsync, every file and its directory is flushed to disk, as
    heirloom does
bench_torchx.py many PROTOCOL OPTIONS ROOT COUNT [fsync]
    64 processes, COUNT records of metadata each
bench_torchx.py read PROTOCOL OPTIONS ROOT COUNT
    a root that is there: COUNT runs, and those of parent-3
"""

import json
import multiprocessing
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


def measure(what, count, operation):
    """The rate, and the processor's time, of this process alone."""
    start = time.process_time()
    per_second = rate(count, operation)
    return {f"{what}/s": per_second, f"{what}-cpu-ms": (time.process_time() - start) * 1000}


def write(tracker, count):
    runs = [f"local://torchx/bench-{i:04d}" for i in range(max(1, count // 10))]
    return {
        "add-metadata/s": rate(count, lambda i: tracker.add_metadata(runs[i % len(runs)], **{f"k{i}": i})),
        "add-artifact/s": rate(count, lambda i: tracker.add_artifact(runs[i % len(runs)], f"a{i}", "/a")),
        "add-source/s": rate(count, lambda i: tracker.add_source(runs[i % len(runs)], f"source-{i}", "m")),
        "read-run/s": rate(len(runs), lambda i: read_run(tracker, runs[i])),
        "run-ids/s": rate(1, lambda i: run_ids(tracker)),
        "run-ids-of-parent/s": rate(1, lambda i: run_ids(tracker, parent_run_id="source-3")),
    }


def many(tracker, count):
    processes = 64
    ready = multiprocessing.Barrier(processes + 1)

    def add(number):
        ready.wait()
        for i in range(count):
            tracker.add_metadata(f"local://torchx/bench-{number:04d}", **{f"k{i}": i})

    started = [multiprocessing.Process(target=add, args=(n,)) for n in range(processes)]
    for process in started:
        process.start()
    ready.wait()
    start = time.perf_counter()
    for process in started:
        process.join()
    return {"add-metadata/s": processes * count / (time.perf_counter() - start)}


def read(tracker, count):
    runs = sorted(tracker.run_ids())[:count]
    return {
        **measure("read-metadata", len(runs), lambda i: tracker.metadata(runs[i])),
        **measure("read-all", len(runs), lambda i: read_run(tracker, runs[i])),
        **measure("run-ids", 1, lambda i: run_ids(tracker)),
        **measure("run-ids-of-parent", 1, lambda i: run_ids(tracker, parent_run_id="parent-3")),
    }


def run_ids(tracker, **of):
    """What is there now, not what fsspec remembers of an earlier listing."""
    tracker.fs.invalidate_cache()
    return list(tracker.run_ids(**of))


def read_run(tracker, run):
    tracker.metadata(run)
    tracker.artifacts(run)
    tracker.sources(run)


def main():
    mode, protocol, options, root, count = sys.argv[1:6]
    durable = "fsync" in sys.argv[6:]
    fs = Durable() if durable else fsspec.filesystem(protocol, **json.loads(options))
    modes = {"write": write, "many": many, "read": read}
    print(json.dumps(modes[mode](FsspecTracker(fs, root), int(count))))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
