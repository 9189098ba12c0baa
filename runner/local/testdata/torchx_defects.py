"""Says of each known defect of TorchX's local scheduler whether it is there, as JSON: name → [it is, what was seen]."""

import contextlib
import json
import os
import queue
import signal
import sys
import tempfile
import threading
import time

from torchx.schedulers import local_scheduler
from torchx.schedulers.api import Stream
from torchx.specs import AppDef, AppState, Resource, Role, is_terminal, macros

LIMIT = 30  # seconds for what should come at once


# In TorchX's arguments "$$" stands for "$".
def sh(script, name="sh", replicas=1, *args, **more):
    return Role(name=name, image="", entrypoint="sh", args=["-c", script, *args], num_replicas=replicas, **more)


def submit(s, dir, *roles, name="app"):
    return s.schedule(s.submit_dryrun(AppDef(name, roles=list(roles)), {"log_dir": dir} if dir else {}))


def until(so):
    end = time.monotonic() + LIMIT
    while not so():
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.02)


def finished(s, app):
    until(lambda: is_terminal(s.describe(app).state))


def text(file):
    with contextlib.suppress(FileNotFoundError), open(file) as f:
        return f.read()
    return ""


def pid_in(file):
    until(lambda: text(file).endswith("\n"))
    return int(text(file))


def alive(pid):
    return ") Z " not in text(f"/proc/{pid}/stat") and os.path.exists(f"/proc/{pid}")


def kill(*pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def in_time(call, seconds=LIMIT):
    """What call returns, or None if that takes longer."""
    got = queue.Queue()

    def run():
        with contextlib.suppress(Exception):
            got.put(call())

    threading.Thread(target=run, daemon=True).start()
    with contextlib.suppress(queue.Empty):
        return got.get(timeout=seconds)


def pieces(s, dir):
    go = f"{dir}/go"
    app = submit(s, dir, sh(f"printf abc; while [ ! -e {go} ]; do sleep 0.05; done; echo def"))
    lines = iter(s.log_iter(app, "sh", 0, streams=Stream.STDOUT, should_tail=True))
    first = in_time(lambda: next(lines), 10)
    open(go, "w").close()
    finished(s, app)
    return first == "abc", repr(first)


def survivors(s, dir):
    app = submit(s, dir, sh(f"trap '' TERM; sh -c 'echo $$$$ > {dir}/pid; exec sleep 600' & wait"))
    pid = pid_in(f"{dir}/pid")
    begun = time.monotonic()
    s.cancel(app)
    took = time.monotonic() - begun
    left = alive(pid)
    kill(pid)
    return {"leader alone is killed": (left, f"process {pid} lives"), "cancel blocks": (took > 5, f"{took:.1f} s")}


def signals(s, dir):
    app = submit(s, dir, sh("exit 3"))
    until(lambda: not any(r.is_alive() for r in s._apps[app].role_replicas["sh"]))
    finished(s, app)
    told, real = [], os.killpg
    os.killpg = lambda pid, sig: (told.append(pid), real(pid, sig))
    try:
        for _ in range(5):
            s.describe(app)
    finally:
        os.killpg = real
    return len(told) > 0, f"{len(told)} signals to the group of a process that is gone"


def hijack(s, dir):
    with open(f"{dir}/env", "w") as f:
        f.write("#!/bin/sh\necho hijacked\n")
    os.chmod(f"{dir}/env", 0o755)
    before = os.getcwd()
    os.chdir(dir)
    try:
        app = submit(s, f"{dir}/logs", Role(name="r", image="", entrypoint="env", args=["echo", "right"]))
        finished(s, app)
    finally:
        os.chdir(before)
    said = text(f"{dir}/logs/s/{app}/r/0/stdout.log")
    return said == "hijacked\n", said.strip()


def half_started(s, dir):
    started = sh(f"echo $$$$ > {dir}/pid-$0; exec sleep 600", "a", 2, macros.replica_id)
    try:
        submit(s, dir, started, Role(name="b", image="", entrypoint="no-such-program"))
    except FileNotFoundError:
        pass
    pids = [pid_in(f"{dir}/pid-{k}") for k in range(2)]
    s.close()
    left = [pid for pid in pids if alive(pid)]
    kill(*pids)
    return len(left) > 0, f"{len(left)} of 2 replicas live on"


def outside(s, dir):
    os.makedirs(f"{dir}/in/logs")
    app = submit(s, f"{dir}/in/logs", sh(":"), name="../../x")
    with contextlib.suppress(Exception):
        finished(s, app)
    found = [name for name in os.listdir(f"{dir}/in") if name.startswith("x-")]
    return len(found) > 0, f"beside the directory of logs: {found}"


def forgotten(s, dir):
    app = submit(s, dir, sh("exit 6", max_retries=1))
    finished(s, app)
    other = local_scheduler.create_scheduler("s")
    return other.describe(app) is None, "another scheduler knows nothing of it"


def unlisted(s, dir):
    try:
        s.list()
    except Exception as e:
        return True, str(e)
    return False, ""


def no_code(s, dir):
    app = submit(s, dir, sh("exit 6"))
    finished(s, app)
    d = s.describe(app)
    return d.state == AppState.FAILED and not d.roles_statuses and "6" not in str(d.structured_error_msg), str(d)


def no_retries(s, dir):
    app = submit(s, dir, sh(f"echo x >> {dir}/ran; exit 1", max_retries=1))
    finished(s, app)
    return text(f"{dir}/ran") == "x\n", f"it ran {text(f'{dir}/ran').count('x')} time"


def orphans(s, dir):
    launcher = os.fork()
    if launcher == 0:
        s = local_scheduler.create_scheduler("s")
        submit(s, f"{dir}/logs", sh(f"echo $$$$ > {dir}/pid; exec sleep 600"))
        time.sleep(LIMIT)
        os._exit(0)
    pid = pid_in(f"{dir}/pid")
    os.kill(launcher, signal.SIGKILL)
    os.waitpid(launcher, 0)
    time.sleep(0.5)
    left = alive(pid)
    kill(pid)
    return left, f"process {pid} lives"


def logs_removed(s, dir):
    finished(s, submit(s, None, sh(":")))
    finished(s, submit(s, f"{dir}/mine", sh("echo kept")))
    s.close()
    return not os.path.exists(f"{dir}/mine"), "the directory that the user named is gone"


def endless(s, dir):
    go = f"{dir}/go"
    app = submit(s, dir, sh(f"echo x; while [ ! -e {go} ]; do sleep 0.05; done"))
    until(lambda: text(f"{dir}/s/{app}/sh/0/combined.log") == "x\n")
    lines = in_time(lambda: list(s.log_iter(app, "sh", 0, should_tail=False)), 2)
    open(go, "w").close()
    finished(s, app)
    return lines is None, "it does not end before the app does"


def newest_evicted(s, dir):
    s = local_scheduler.create_scheduler("s", cache_size=2)
    apps = []
    for _ in range(3):
        apps.append(submit(s, dir, sh(":")))
        finished(s, apps[-1])
    return s.describe(apps[0]) is not None and s.describe(apps[1]) is None, "the older is kept"


def no_nvidia(s, dir):
    path, os.environ["PATH"] = os.environ["PATH"], dir
    try:
        role = sh(":", resource=Resource(cpu=1, gpu=1, memMB=1))
        s.submit_dryrun(AppDef("app", roles=[role]), {"log_dir": dir, "auto_set_cuda_visible_devices": True})
    except FileNotFoundError as e:
        return True, str(e)
    finally:
        os.environ["PATH"] = path
    return False, ""


def changed(s, dir):
    role = sh(":")
    s.submit_dryrun(AppDef("app", roles=[role]), {"log_dir": dir})
    return "PATH" in role.env, str(role.env)


SCENARIOS = {
    "pieces of lines": pieces, "": survivors, "status signals": signals, "working directory in PATH": hijack,
    "half started": half_started, "names lead outside": outside, "forgotten": forgotten, "not listed": unlisted,
    "no exit code": no_code, "no retries": no_retries, "orphans": orphans, "logs removed": logs_removed,
    "logs without end": endless, "newest evicted": newest_evicted, "no nvidia-smi": no_nvidia, "plan changes the app": changed,
}


def main():
    found = {}
    for name, scenario in SCENARIOS.items():
        with tempfile.TemporaryDirectory(prefix="torchx-defects-", ignore_cleanup_errors=True) as dir:
            s = local_scheduler.create_scheduler("s")
            try:
                got = scenario(s, dir)
            except Exception as e:
                got = (False, f"{type(e).__name__}: {e}")
            found.update(got if isinstance(got, dict) else {name: got})
            s.close()
    json.dump(found, sys.stdout)


main()
