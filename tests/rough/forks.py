"""Runs ``cutline`` many times in little time: each call is a fork of a process that has loaded all of it.

A line on standard input is a call as JSON: the folder, the words, the files that its output and talk go to. A line on
standard output is its exit status, negative for a signal. A call has so many seconds of processor time and bytes of
memory, no more; one that takes STUCK seconds says where it is, and ends.
"""

import faulthandler
import importlib
import json
import os
import pkgutil
import resource
import sys

from cutline import cli

SECONDS = 200
STUCK = 120
MEMORY = 6 * 2**30


def serve() -> None:
    """Fork for every call; return in the forked process, where standard streams and arguments are those of the call."""
    for module in pkgutil.walk_packages(cli.__path__, "cutline.cli."):
        importlib.import_module(module.name)
    for name in ("campaign.campaign", "campaign.resume", "campaign.files.importing", "recorded.replay", "planning"):
        importlib.import_module(f"cutline.{name}")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(**json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)


def become(folder: str, words: list[str], out: str, talk: str) -> None:
    """Make this process the one that a call is."""
    os.chdir(folder)
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, talk, os.O_WRONLY)):
        os.dup2(os.open(path, flags | os.O_CREAT), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)
    sys.argv = ["cutline", *words]
    faulthandler.dump_traceback_later(STUCK, exit=True)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    serve()
    cli.main()
