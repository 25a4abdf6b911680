"""A process that works on a campaign, for tests: ``python campaign_worker.py what url name seed``.

It writes a line when it is ready and one for everything that the campaign has acknowledged.
"""

import itertools
import os
import random
import sys
from typing import Any

from cutline.campaign import Campaign


def say(*words: object) -> None:
    print(*words, flush=True)


def hundred(campaign: Campaign, seed: int) -> None:
    """Ask and tell a hundred times, once standard input has been closed."""
    sys.stdin.read()
    answers = random.Random(seed)
    for _ in range(100):
        (pull,) = campaign.ask()
        campaign.tell(pull, answers.random() < 0.5)


def endless(campaign: Campaign, seed: int) -> None:
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


def changing(campaign: Campaign, seed: int) -> None:
    """Change one thing after the other until somebody ends it; the last asks find a campaign that has not finished."""
    changes: list[Any] = [{"threshold": 0.7}, {"policy": "APT"}, {"prior": (3, 2)}, {"prior": None}, {"decide": "mean"}]
    for i, change in enumerate(itertools.cycle(changes)):
        campaign.change(budget=1_000_000 - i, max_pulls_per_arm=1_000_000 - i, **change)
        say("changed", i)


def leave(campaign: Campaign, seed: int) -> None:
    """Ask once and wait to be killed."""
    campaign.ask(lease=30)
    sys.stdin.read()


if __name__ == "__main__":
    _, what, url, name, seed = sys.argv
    with Campaign.open(url, name) as campaign:
        say("ready")
        {"hundred": hundred, "endless": endless, "changing": changing, "leave": leave}[what](campaign, int(seed))
