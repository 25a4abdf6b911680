"""What a campaign decides when its results are weighed by who gave them; see ``beliefs.workers``. It writes nothing."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cutline.beliefs.workers import Crowd, Labels, likelier
from cutline.campaign.arithmetic import UNIT
from cutline.campaign.checks import check_known
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.store import Store
from cutline.campaign.operations.reading.deciding import decisions, result_pages
from cutline.campaign.results import Decision
from cutline.campaign.settings import Settings
from cutline.campaign.weighed import Weighed, WorkerRates
from cutline.errors import InvalidInputError, NotFoundError
from cutline.text import quoted


@dataclass(frozen=True, eq=False)
class _Kept:
    """The results that count, with their arms and workers as numbers; ``answers``: how many each worker gave in all."""

    labels: Labels
    workers: list[str | None]
    answers: dict[str | None, int]


class Held(NamedTuple):
    """What a campaign holds: its name, settings and decisions, and the arm, reward and worker of each result."""

    name: str
    settings: Settings
    decisions: list[Decision]
    results: Iterable[tuple[str, float, str | None]]


def held(store: Store, campaign: Identity, confidence: float) -> Held:
    """Return what a campaign in a database holds."""
    pages = result_pages(store, campaign)
    rows = ((name, reward / UNIT, worker) for page in pages for _, _, name, reward, worker, *_ in page)
    return Held(campaign.name, campaign.settings, decisions(store, campaign, None, confidence), rows)


def weigh(held: Held, known: Mapping[str, bool] | None, exclude: Collection[str], confidence: float) -> Weighed:
    """Weigh the results; see Campaign.weigh."""
    if held.settings.threshold != 0.5:
        raise InvalidInputError(
            f"the threshold of campaign {held.name!r} is {held.settings.threshold}; workers are weighed at 0.5, where "
            "an answer is yes or no"
        )
    if isinstance(exclude, str):
        raise InvalidInputError(f"exclude is {exclude!r}; it must be a list of workers")
    arms = {item.arm: number for number, item in enumerate(held.decisions)}
    own = {item.arm: item.above is True for item in held.decisions if item.known}
    kept = _kept(held.results, arms, own | _answers(held.name, arms, known), {*exclude, *held.settings.excluded})
    unknown = [worker for worker in exclude if worker not in kept.answers]
    if unknown:
        raise NotFoundError(f"campaign {held.name!r} has no answer by {quoted(unknown[0])}, who is to be left out")
    crowd = Crowd.learn(kept.labels, len(kept.workers))
    decided, rates = _decided(held.decisions, kept.labels, crowd), _rates(kept, crowd, confidence)
    return Weighed(decided, rates, crowd.tells, crowd.mistaken)


def _answers(name: str, arms: Mapping[str, int], known: Mapping[str, bool] | None) -> dict[str, bool]:
    """Return the known answers by arm; raise InvalidInputError for one that is none, NotFoundError without its arm."""
    answers = check_known(known)
    for arm in answers:
        if arm not in arms:
            raise NotFoundError(f"campaign {name!r} has no arm {quoted(arm)}, whose answer is said to be known")
    return answers


def _kept(
    results: Iterable[tuple[str, float, str | None]],
    arms: Mapping[str, int],
    known: Mapping[str, bool],
    exclude: Collection[str],
) -> _Kept:
    """Return the results of those who are not excluded; whoever has no name is one worker."""
    answers: dict[str | None, int] = {}
    numbers: dict[str | None, int] = {}
    out = frozenset(exclude)
    task: list[int] = []
    who: list[int] = []
    label: list[float] = []
    for name, reward, worker in results:
        answers[worker] = answers.get(worker, 0) + 1
        if worker not in out and name in arms:  # an arm may have come meanwhile
            task.append(arms[name])
            who.append(numbers.setdefault(worker, len(numbers)))
            label.append(reward)
    told = np.full(len(arms), -1, np.int8)
    for arm, answer in known.items():
        told[arms[arm]] = answer
    labels = Labels(np.array(task, np.int64), np.array(who, np.int64), np.array(label, np.float64), told)
    return _Kept(labels, list(numbers), answers)


def _decided(decided: list[Decision], labels: Labels, crowd: Crowd) -> tuple[Decision, ...]:
    """Return the decisions with the likelier answer of each arm and the probability that it is wrong."""
    evidence = crowd.evidence(labels)
    counted = np.bincount(labels.task, minlength=len(decided)) > 0
    above, wrong = likelier(evidence), crowd.wrong_side(evidence)
    is_known = labels.known >= 0
    above, wrong = np.where(is_known, labels.known == 1, above), np.where(is_known, 0.0, wrong)
    yes = np.where(above, 1.0 - wrong, wrong)
    columns = (above, wrong, yes, is_known, counted | is_known)
    return tuple(
        replace(item, above=side if has else None, wrong=doubt, probability=probability, known=told)
        for item, side, doubt, probability, told, has in zip(decided, *(each.tolist() for each in columns), strict=True)
    )


def _rates(kept: _Kept, crowd: Crowd, confidence: float) -> tuple[WorkerRates, ...]:
    """Return what is known of each worker, whoever gave most answers first."""
    rates = crowd.rates()[:-1].tolist()
    lows, highs = (ends.tolist() for ends in crowd.intervals(confidence))
    known = {
        worker: (tuple(rate), tuple(zip(low, high, strict=True)))
        for worker, rate, low, high in zip(kept.workers, rates, lows, highs, strict=True)
    }
    found = []
    for worker, answers in kept.answers.items():
        (no, yes), (of_no, of_yes) = known.get(worker, ((None, None), (None, None)))
        found.append(WorkerRates(worker, answers, no, of_no, yes, of_yes))
    return tuple(sorted(found, key=lambda item: (-item.answers, item.name or "")))
