"""Recorded labels join a campaign, each once, however often they are imported.

What identifies a result: its key, where the file has a column of that name, as exports do. Else its task and worker,
since a worker answers a task once. Where workers are unknown, or the campaign lets them answer again, it is the place
among the rows of its task (and worker) in a file of that name: more rows at the end are new, the others are not.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from cutline.campaign.campaign import Campaign, delete
from cutline.campaign.database.address import Url
from cutline.campaign.results import Observation
from cutline.campaign.resume import resume
from cutline.errors import InvalidInputError, NotFoundError, OutOfMemoryError
from cutline.memory import available_memory
from cutline.recorded.observations import Counts, Observations
from cutline.text import quoted

_BYTES = 800.0
"""Memory that a label takes while it is imported."""


@dataclass(frozen=True)
class Imported:
    """What an import did: ``rows`` results were given, ``new`` of them joined the campaign ``name``.

    ``created`` says that the campaign was made for them.
    """

    name: str
    rows: int
    new: int
    created: bool


def import_recorded(
    url: Url,
    name: str | None,
    recorded: Observations | Counts,
    *,
    source: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Imported:
    """Record labels of a file as results from elsewhere, all or none; the campaign is made where there is none.

    ``recorded``: what ``read_recorded`` returns. The tasks become the arms of a new campaign, in the order of the file;
    one that is there must have them already. ``source`` stands for the file's name in the identity of rows that need
    it, see above. ``settings``: see ``resume``. Totals are so many results of 1 and then of 0.
    Raises InvalidInputError with both lines for a worker's second label of a task unless workers repeat, and for rows
    from standard input that need a source; OutOfMemoryError for totals beyond memory; NotFoundError for a task that is
    no arm; ConflictError for a result that is there with another label; what ``resume`` raises. Then nothing is
    imported.
    """
    arms = list(recorded.tasks)
    campaign, created = resume(url, name, arms, settings or {}, same_arms=False)
    with campaign:
        try:
            if isinstance(recorded, Counts):
                rows = list(_from_counts(recorded, source))
            else:
                rows = list(_from_observations(recorded, source, campaign.settings.repeat_workers))
            new = campaign.observe_many(rows)
        except NotFoundError as error:
            raise _no_arm(campaign, recorded) or error from None
        except BaseException:
            if created:
                delete(url, campaign.name, only_unused=True)  # somebody may be at work on it already
            raise
        return Imported(campaign.name, len(rows), new, created)


def _from_observations(recorded: Observations, source: str | None, repeat: bool) -> Iterator[Observation]:
    keys = recorded.keys or (None,) * len(recorded)
    places: Counter[tuple[int, str | None]] = Counter()
    answers: dict[tuple[int, str], tuple[int, float]] = {}
    rows = zip(
        recorded.task.tolist(), recorded.workers, recorded.labels.tolist(), recorded.lines.tolist(), keys, strict=True
    )
    for number, worker, label, line, key in rows:
        task = recorded.tasks[number]
        if key is None and worker is not None and not repeat:
            first, answer = answers.setdefault((number, worker), (line, label))
            if answer != label:
                raise InvalidInputError(
                    f"{recorded.source}, line {line}: worker {quoted(worker)} has another label of task "
                    f"{quoted(task)} in line {first}; where workers may answer again, make the campaign with "
                    "repeat_workers"
                )
            key = _key(task, worker)
        elif key is None:
            places[number, worker] += 1
            key = _key(_source(recorded, source), task, worker, places[number, worker])
        yield Observation(task, label, worker, key)


def _from_counts(recorded: Counts, source: str | None) -> Iterator[Observation]:
    origin = _source(recorded, source)
    count = float(recorded.n.sum(dtype=float))
    if count * _BYTES > available_memory():
        raise OutOfMemoryError(
            f"{recorded.source}: its totals are {count:,.0f} labels, more than there is memory for "
            f"({count * _BYTES / 1e9:,.1f} GB); are they right?"
        )
    for task, yes, n in zip(recorded.tasks, recorded.yes.tolist(), recorded.n.tolist(), strict=True):
        for label, count in ((1, yes), (0, n - yes)):
            for place in range(1, count + 1):
                yield Observation(task, label, None, _key(origin, task, label, place))


def _source(recorded: Observations | Counts, source: str | None) -> str:
    if source is None and recorded.source == "standard input":
        raise InvalidInputError(
            "rows from standard input that have neither key nor one worker each need a source: a name that is the same "
            "when they come again"
        )
    return source if source is not None else PurePath(recorded.source).name.removesuffix(".gz")


def _key(*parts: str | int | None) -> str:
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _no_arm(campaign: Campaign, recorded: Observations | Counts) -> NotFoundError | None:
    """Return the error for the first task that is no arm, with its line where it is known."""
    known = {item.arm for item in campaign.decisions()}
    for number, task in enumerate(recorded.tasks):
        if task not in known:
            line = "" if isinstance(recorded, Counts) else f", line {recorded.lines[recorded.task == number][0]}"
            return NotFoundError(f"{recorded.source}{line}: campaign {campaign.name!r} has no arm {quoted(task)}")
    return None
