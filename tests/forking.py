"""Processes that begin at once: forks of one that has loaded what campaigns and their commands need."""

import gc
import multiprocessing
import os
import sys
import warnings
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from surroundings import PATIENCE

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *("cutline.cli.campaign.decisions", "cutline.cli.campaign.list_", "cutline.cli.campaign.status"),
        *("cutline.campaign.operations.reading.deciding", "cutline.campaign.operations.reading.paging"),
        *("cutline.campaign.files.exporting", "cutline.campaign.files.verdicts", "cutline.campaign.resume"),
        *("cutline.cli.export", "cutline.policies.lsa", "cutline.recorded.observations", "psycopg"),
    ]
)


def kill(process: ForkServerProcess) -> None:
    """Kill a process, with no time to do anything about it, and wait for its end."""
    process.kill()
    process.join()


def play(script: str, arguments: list[str], *streams: Connection) -> None:
    """Run a script with these arguments, standard output and standard error, and with warnings as errors."""
    for number, stream in enumerate(streams, 1):
        os.dup2(stream.fileno(), number)
        stream.close()
    sys.argv = ["-c", *arguments]
    warnings.simplefilter("error")
    exec(compile(script, "script", "exec"), {"__name__": "__main__"})
    gc.collect()


def run(script: str, *arguments: object) -> tuple[str, str, int | None]:
    """Run a script that writes little as a process; return its output, what it writes to standard error, and status."""
    ends, streams = zip(*(FORKS.Pipe(duplex=False) for _ in range(2)), strict=True)
    process = FORKS.Process(target=play, args=(script, list(map(str, arguments)), *streams))
    process.start()
    for stream in streams:
        stream.close()
    process.join(PATIENCE)
    if process.is_alive():
        kill(process)
    written = []
    for end in ends:
        with end, open(end.fileno(), encoding="utf-8", closefd=False) as text:
            written.append(text.read())
    return written[0], written[1], process.exitcode
