"""Processes that begin at once: forks of one that has loaded what campaigns and their commands need."""

import multiprocessing
from multiprocessing.context import ForkServerProcess

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
