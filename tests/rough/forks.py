"""Runs ``cutline`` many times in little time: each call is a fork of a process that has loaded all of it.

The arguments are words of a call that is made before the others, in the folder that this process is started in, so
that all finds its kernels and modules loaded. A line on standard input is a call as JSON: the folder, the words, the
files that its output and talk go to, and the signal that it is sent after so many seconds, or null. A line on standard
output is its exit status, negative for a signal. A call has so many seconds of processor time and bytes of memory, no
more; one that takes STUCK seconds says where it is, and ends.

A forked call ends where Python would begin to take itself apart: what it has loaded is its parent's, and to free that
would take longer than most calls. There no faulthandler watches any more, either, so that a call which stood still in
its last moments would never end. Whatever it waits for, its parent ends it a while after STUCK.
"""

import atexit
import faulthandler
import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import NoReturn

from cutline import __main__, cli

SECONDS = 200
STUCK = 120
MEMORY = 6 * 2**30
STOPPING = {signal.SIGINT, signal.SIGTERM}
"""Signals that wait until a call has begun, in which they mean something."""


def load(words: list[str]) -> None:
    """Load all that calls need, and what these words need, before anything is forked; no thread may be left."""
    for module in pkgutil.walk_packages(cli.__path__, "cutline.cli."):
        importlib.import_module(module.name)
    for name in ("campaign.campaign", "campaign.resume", "campaign.files.importing", "recorded.replay", "planning"):
        importlib.import_module(f"cutline.{name}")
    if words:
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())), redirect_stderr(io.StringIO()):
            cli.cutline.main(words, standalone_mode=False)
    join_threads()
    if threading.active_count() > 1:
        raise RuntimeError(f"threads whose locks a forked call would wait for: {threading.enumerate()}")
    gc.collect()
    gc.freeze()


def join_threads() -> None:
    """Wait for the threads that Python waits for at its end."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()


def serve() -> None:
    """Fork for every call; return in the forked process, where standard streams and arguments are those of the call."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    for line in sys.stdin:
        stop, what = json.loads(line)
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(STUCK, exit=True)
            become(**what)
            return
        print(status_of(child, *([stop] if stop else []), (signal.SIGKILL, STUCK + 10)), flush=True)
    os._exit(0)


def status_of(child: int, *stops: tuple[int, float]) -> int:
    """Wait until a child has ended, sending it each signal after so many seconds; return its exit status.

    It is negative for a signal that has ended the child.
    """
    watched = os.pidfd_open(child)
    for number, seconds in stops:
        if not select.select([watched], [], [], seconds)[0]:
            os.kill(child, number)
    os.close(watched)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def become(folder: str, words: list[str], out: str, talk: str) -> None:
    """Make this process the one that a call is."""
    os.chdir(folder)
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, talk, os.O_WRONLY)):
        os.dup2(os.open(path, flags | os.O_CREAT), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    sys.argv = ["cutline", *words]
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def call() -> NoReturn:
    """Run the command line and end as Python does, up to the point where it takes itself apart."""
    status: object = 0
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    except KeyboardInterrupt:
        os._exit(130)  # before the command: what a real process does then is tried with real ones
    try:
        __main__.main()
    except SystemExit as error:
        status = error.code
    except BaseException:
        traceback.print_exc()
        status = 1
    join_threads()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    load(sys.argv[1:])
    serve()
    call()
