"""Inspect (inspect-ai): an eval whose epochs go to the samples that are not clear yet.

Inspect lets a task's dataset be a source of samples: it is told of each sample that ends, and may add another epoch of
any. Here a campaign decides which: its arms are the ids of the samples, a pull is an epoch, the score is the reward.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from cutline.campaign.campaign import Campaign
from cutline.campaign.results import Pull
from cutline.errors import InvalidInputError, MissingDependencyError
from cutline.text import quoted


def campaign_samples(
    campaign: Campaign, samples: Iterable[Any], *, scorer: str | None = None, at_once: int = 10
) -> Any:
    """Return a ``SampleSource`` of Inspect, to be a task's dataset, that runs the epochs that a campaign asks for.

    ``samples`` are Inspect's; each has an id, and the ids are the arms of the campaign. ``scorer`` names the one whose
    score is the reward, where there are several. ``at_once`` epochs are under way at any time. A sample that ends with
    an error is not asked for again by this source. The eval ends when the campaign does, or has nothing more to ask.

    Raises MissingDependencyError where inspect-ai is not installed or has no such sources, InvalidInputError for
    samples without an id and for ``at_once`` below 1; while the eval runs, for a score that is no number in [0, 1].
    """
    try:
        from inspect_ai import SampleSource
    except ImportError:
        raise MissingDependencyError(
            "an eval of Inspect that a campaign drives needs inspect-ai 0.3.285 or newer: pip install -U inspect-ai"
        ) from None
    if at_once < 1:
        raise InvalidInputError(f"at_once is {at_once!r}; it must be a whole number from 1")
    driven = _Driven(campaign, samples, scorer)
    first = driven.ask(at_once)
    return SampleSource.from_samples(
        [sample for sample, _ in first], next_samples=driven.next_samples, sample_complete=driven.complete
    )


class _Driven:
    """The pulls of a campaign that are under way as samples of Inspect."""

    def __init__(self, campaign: Campaign, samples: Iterable[Any], scorer: str | None) -> None:
        self._campaign, self._scorer = campaign, scorer
        self._samples: dict[str, Any] = {}
        for sample in samples:
            if sample.id is None:
                raise InvalidInputError("a sample has no id; each must have one, which is its arm")
            self._samples[str(sample.id)] = sample
        self._epochs: Counter[str] = Counter()
        self._under_way: dict[tuple[str, int], Pull] = {}
        self._failed: set[str] = set()

    def ask(self, n: int) -> list[tuple[Any, int]]:
        """Return up to n samples, each with its next epoch."""
        found = []
        for pull in self._campaign.ask(n, lease=10**6, without=self._failed, distinct=not self._epochs):
            if pull.arm not in self._samples:
                raise InvalidInputError(f"the campaign asks for {quoted(pull.arm)}, which is the id of no sample")
            self._epochs[pull.arm] += 1
            self._under_way[pull.arm, self._epochs[pull.arm]] = pull
            found.append((self._samples[pull.arm], self._epochs[pull.arm]))
        return found

    async def next_samples(self) -> None:
        """End the task: nothing is under way any more, and each end of a sample has asked for what follows."""

    async def complete(self, sample: Any) -> None:
        """Tell the campaign how a sample has ended, and have the one run that it asks for next."""
        from inspect_ai import enqueue_sample

        arm = str(sample.id)
        pull = self._under_way.pop((arm, sample.epoch), None)
        if pull is None:
            return
        reward = None if sample.error else self._reward(sample)
        if reward is None:
            self._failed.add(arm)
            self._campaign.abandon(pull)
        else:
            self._campaign.tell(pull, reward)
        for following, epoch in self.ask(1):
            enqueue_sample(following, epoch=epoch)

    def _reward(self, sample: Any) -> float | None:
        """Return the score of a sample as a number, as Inspect counts C, I, P and N; None without one."""
        from inspect_ai.scorer import value_to_float

        scores = sample.scores or {}
        if self._scorer is None and len(scores) > 1:
            raise InvalidInputError(f"the scorers are {', '.join(map(quoted, scores))}; scorer= says which counts")
        name = self._scorer or next(iter(scores), None)
        return None if name not in scores else float(value_to_float()(scores[name].value))
