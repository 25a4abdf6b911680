"""A process that works on a campaign, for tests: ``python campaign_worker.py what url name seed``.

It writes a line when it is ready and one for everything that the campaign has acknowledged.
"""

import os
import random
import sys

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
    while not (asked := campaign.ask(answers.choice((1, 1, 1, 20)))).reason:
        pulls = list(asked)
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


def leave(campaign: Campaign, seed: int) -> None:
    """Ask once and wait to be killed."""
    campaign.ask(lease=30)
    sys.stdin.read()


if __name__ == "__main__":
    _, what, url, name, seed = sys.argv
    with Campaign.open(url, name) as campaign:
        say("ready")
        {"hundred": hundred, "endless": endless, "leave": leave}[what](campaign, int(seed))
