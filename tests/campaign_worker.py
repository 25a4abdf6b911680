"""Processes that work on a campaign, for tests.

Each writes a line to a file when it is ready, and one for everything that the campaign has acknowledged.
"""

import itertools
import os
import random
import signal
from contextlib import ExitStack
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from cutline.campaign import Campaign
from forking import FORKS, kill


def say(*words: object) -> None:
    print(*words, flush=True)


def hundred(campaign: Campaign, seed: int, go: Event) -> None:
    """Ask and tell a hundred times, once all may begin."""
    go.wait()
    answers = random.Random(seed)
    for _ in range(100):
        (pull,) = campaign.ask()
        campaign.tell(pull, answers.random() < 0.5)


def endless(campaign: Campaign, seed: int, go: Event) -> None:
    """Ask and tell, one and many, abandon and observe, until the budget is spent or somebody ends it."""
    answers = random.Random(seed)
    while pulls := list(campaign.ask(answers.choice((1, 1, 1, 20)))):
        if answers.random() < 0.1:
            campaign.abandon(pulls.pop(0))
        rewards = [(pull, int(answers.random() < 0.5)) for pull in pulls]
        say("telling", *(pull.id for pull in pulls))
        campaign.tell_many(rewards)
        say("told", *(f"{pull.id}={reward}" for pull, reward in rewards))
        if answers.random() < 0.1:
            key = f"{os.getpid()} {answers.random()}"
            campaign.observe("arm 0", 1, key=key)
            say("observed", key.replace(" ", "_"))


def changing(campaign: Campaign, seed: int, go: Event) -> None:
    """Change one thing after the other until somebody ends it; the last asks find a campaign that has not finished."""
    changes: list[Any] = [{"threshold": 0.7}, {"policy": "APT"}, {"prior": (3, 2)}, {"prior": None}, {"decide": "mean"}]
    for i, change in enumerate(itertools.cycle(changes)):
        campaign.change(budget=1_000_000 - i, max_pulls_per_arm=1_000_000 - i, **change)
        say("changed", i)


def leave(campaign: Campaign, seed: int, go: Event) -> None:
    """Ask once and wait to be killed."""
    campaign.ask(lease=30)
    signal.pause()


def work(what: str, url: str, name: str, seed: int, output: Path, go: Event) -> None:
    """Work in one of these ways; all that is said goes to the output."""
    with output.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    with Campaign.open(url, name) as campaign:
        say("ready")
        {"hundred": hundred, "endless": endless, "changing": changing, "leave": leave}[what](campaign, seed, go)


class Workers(ExitStack):
    """The processes of a test; in the end all are killed. Those that wait for each other begin at ``go.set()``."""

    def __init__(self) -> None:
        super().__init__()
        self.go = FORKS.Event()

    def start(self, what: str, url: str, name: str, outputs: list[Path]) -> list[ForkServerProcess]:
        """Start workers that write to these files, and wait until all are ready."""
        started = []
        for seed, output in enumerate(outputs):
            output.touch()
            worker = FORKS.Process(target=work, args=(what, url, name, seed, output, self.go))
            worker.start()
            self.callback(kill, worker)
            started.append(worker)
        for worker, output in zip(started, outputs, strict=True):
            while not output.stat().st_size and worker.is_alive():
                worker.join(0.01)
        return started
