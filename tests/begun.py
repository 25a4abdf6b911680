"""``cutline`` as a process that has begun already: a fork of one that has loaded all of it, in a tenth of the time.

Run as a script with the path of a socket it serves there; run with that and words it is ``cutline WORDS``. The fork has
the folder, the environment and the standard streams of the process that asks for it, gets its signals, and ends as it.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

FORKED = ("campaign", "import", "export", "plan", "replay", "run")
"""The commands that are such a process; it has loaded what they need."""

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def commands(folder: Path) -> Iterator[Path]:
    """Yield a folder for PATH whose ``cutline`` is such a process for some commands, for others a new one."""
    at, script = folder / "socket", folder / "bin" / "cutline"
    script.parent.mkdir()
    real = Path(sys.executable).with_name("cutline")
    script.write_text(
        f'#!/bin/sh\ncase "$1" in\n  {" | ".join(FORKED)}) exec {sys.executable} -S -E {__file__} {at} "$@" ;;\n'
        f'  *) exec {real} "$@" ;;\nesac\n'
    )
    script.chmod(0o755)
    with subprocess.Popen([sys.executable, __file__, at], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()  # it listens
        try:
            yield script.parent
        finally:
            server.kill()


def serve(at: str) -> None:
    """Fork for everyone who asks; return in the fork, which is to call ``cutline``."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(at)
        listening.listen()
        print(flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            ready, _, _ = select.select([listening, sys.stdin], [], [])
            if sys.stdin in ready:  # whoever started this is gone
                os._exit(0)
            asked, _ = listening.accept()
            if os.fork() == 0:
                break
            asked.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(asked, 1, 3)
    what = json.loads(asked.makefile().readline())
    child = os.fork()
    if child == 0:
        become(streams, **what)
        return
    asked.sendall(f"{child}\n".encode())
    asked.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def become(streams: list[int], folder: str, words: list[str], environment: dict[str, str]) -> None:
    """Make this process the one that is asked for."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    sys.argv = ["cutline", *words]


def ask(at: str, words: list[str]) -> NoReturn:
    """Ask for a fork and end as it does."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(at)
        socket.send_fds(asking, [b"\n"], [0, 1, 2])
        what = {"folder": os.getcwd(), "words": words, "environment": dict(os.environ)}
        asking.sendall(json.dumps(what).encode() + b"\n")
        answer = asking.makefile()
        child = int(answer.readline())
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: os.kill(child, number))
        status = int(answer.read())
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    if sys.argv[2:]:
        ask(sys.argv[1], sys.argv[2:])
    from rough import forks

    forks.load([])
    serve(sys.argv[1])
    forks.call()
