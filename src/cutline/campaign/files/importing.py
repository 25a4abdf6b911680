"""Recorded labels join a campaign, each once, however often they are imported.

What identifies a result: its key, where the file has a column of that name, as exports do. Else its task and worker,
since a worker answers a task once. Where workers are unknown, or the campaign lets them answer again, it is the source,
which is the name of the file or what the user calls it, and the place among the source's rows of its task (and worker):
more rows at the end are new, the others are not. Of totals it is the source, the task, the label and a number.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack

from cutline.campaign.arithmetic import to_units
from cutline.campaign.campaign import Campaign
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.connecting.address import Url, is_service
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import read_state
from cutline.campaign.database.store import Store
from cutline.campaign.files import sending
from cutline.campaign.files.staging import StagedRow, Staging
from cutline.campaign.operations.changing import roster
from cutline.campaign.operations.changing.building import building
from cutline.campaign.operations.observing.joining import (
    CHUNK,
    Batch,
    Joining,
    Source,
    build_with,
    joining,
    observed_keys,
)
from cutline.campaign.operations.upkeep.learning import keep_up
from cutline.campaign.remote.campaign import RemoteCampaign
from cutline.campaign.results import Observation
from cutline.campaign.resume import DEFAULT_NAME, find, terms_of_new
from cutline.campaign.running.signals import first_signal_calls, interrupt
from cutline.campaign.settings import Settings
from cutline.errors import ConflictError, InvalidInputError
from cutline.progress import Progress, progress_bar
from cutline.recorded.labelling import Labelled, Paths
from cutline.recorded.labels import Reading
from cutline.text import quoted

MOST = 10**8
"""A file of more results than that is taken for a mistake, such as totals of another unit."""


@dataclass(frozen=True)
class Imported:
    """What an import did: ``rows`` results were given, ``new`` of them joined the campaign ``name``.

    ``arms`` is how many it was made with, None if it was there. ``withdrawn`` results of the source count no more.
    """

    name: str
    rows: int
    new: int
    arms: int | None
    withdrawn: int = 0


class Origin(Protocol):
    """Where rows come from."""

    def source(self) -> Source:
        """Return the source of rows; raise InvalidInputError if it has no name."""
        ...


class ImportOptions(TypedDict, total=False):
    """What ``import_file`` takes by name, beside what the file is and what a new campaign is made with."""

    source: str | None
    """Stands for the file's name in the identity of rows that need it."""
    replace: bool
    """Of a task in the file, its source's rows that are not in it count no more, and other labels replace others."""
    add_arms: bool
    """Tasks that are no arms of the campaign become arms."""


def import_file(
    url: Url,
    name: str | None,
    path: Paths,
    *,
    reading: Reading | None = None,
    settings: dict[str, Any] | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[ImportOptions],
) -> Imported:
    """Record the labels of a file as results from elsewhere, all or none; the campaign is made where there is none.

    ``path``: a file, or several, that ``read_recorded`` reads, or - for standard input; ``reading``: how it is written.
    The tasks become the arms of a new campaign, in the order of the file; one that is there must have them already,
    unless ``add_arms``: then they are added before, and stay if the results are refused. ``source`` stands for the
    file's name in the identity of rows that need it, see above. ``replace``: of a task in the file, its source's
    rows that are not in it count no more, and another label of a result from elsewhere replaces it. ``settings``:
    see ``resume``. Totals are so many results of 1 and then of 0. The memory that it takes does not depend on the
    file, and nobody else waits for it for long. Where the campaign is on a server, ``progress`` is told of rows that
    are sent.

    Raises InvalidInputError, with the line, for what cannot be read, for a worker's second label of a task unless
    workers repeat, and for a file without a name of its own whose rows need a source; NotFoundError for a task that is
    no arm; ConflictError for a result that is there with another label, and for a source that has fewer rows than
    before or is another file; what ``resume`` raises. Then nothing is imported. The same after Ctrl-C, and after
    SIGTERM and SIGHUP unless they are handled already: KeyboardInterrupt, whose argument is the signal.
    """
    origin = _FileOrigin(path, options.get("source"))
    labelled = Labelled(path, **(reading or {}))
    shown = labelled.source
    with first_signal_calls(interrupt), Staging(shown) as staging:
        staging.fill(labelled.rows())
        if staging.results > MOST:
            raise InvalidInputError(f"{shown}: {staging.results:,} labels, more than {MOST:,}; are its totals right?")
        given = settings or {}
        found = find(url, name, None, given)
        if not isinstance(found, Campaign):
            terms = Settings(**terms_of_new(found, given))
            try:
                return _make_there(url, name or DEFAULT_NAME, staging, origin, terms, progress)
            except ConflictError:  # somebody else was faster
                found = find(url, name or DEFAULT_NAME, None, given)
                if not isinstance(found, Campaign):
                    raise
        with found as campaign:
            if isinstance(campaign, RemoteCampaign):
                rows = sending.written(staging, origin, options)
                return Imported(**campaign.import_rows(rows, staging.results, progress))
            return join(campaign, staging, origin, options, progress)


def _make_there(
    url: Url, name: str, staging: Staging, origin: Origin, settings: Settings, progress: Progress | bool | None
) -> Imported:
    if is_service(url):
        rows = sending.written(staging, origin, {}, settings)
        return Imported(**RemoteCampaign.make_of_rows(url, name, rows, staging.results, progress))
    with Store.connect(url, create=True) as store:
        return make(store, name, staging, origin, settings, progress)


class _FileOrigin:
    """Where rows come from: a file, or something that has no name that lasts."""

    def __init__(self, path: Paths, source: str | None) -> None:
        paths = [path] if isinstance(path, (str, os.PathLike)) else path
        self._path, self._source, self._several = str(paths[0]), source, len(paths) > 1

    def source(self) -> Source:
        """Return the source of rows; raise InvalidInputError if it has no name."""
        if self._several:
            raise InvalidInputError(
                "several files whose rows have neither key nor one worker each cannot be told apart when they come "
                "again; import one at a time"
            )
        real = os.path.realpath(self._path)
        is_file = self._path != "-" and os.path.isfile(real)
        if self._source is not None:
            return Source(self._source, real.removesuffix(".gz") if is_file else "", True)
        if not is_file:
            what = "standard input" if self._path == "-" else self._path
            raise InvalidInputError(
                f"rows from {what} that have neither key nor one worker each need a source: give --source, a name that "
                "is the same when they come again"
            )
        return Source(Path(real).name.removesuffix(".gz"), real.removesuffix(".gz"), False)


def make(
    store: Store,
    name: str,
    staging: Staging,
    origin: Origin,
    settings: Settings,
    progress: Progress | bool | None = False,
) -> Imported:
    """Make a campaign of rows that are staged, with their tasks as arms; raise ConflictError if there is one."""
    source = origin.source() if staging.place(settings.repeat_workers) else None
    rows = staging.results
    with progress_bar("importing", rows, progress) as advance:
        with building(store, name, settings, ((task, None) for task in staging.tasks())) as campaign:
            batches = _batches(_results(staging, source), advance)
            new = build_with(store, campaign, batches, source)
        keep_up(store, campaign, Clock(), wholly=True)
        made_with = store.read(lambda connection: read_state(connection, campaign)).arms
        return Imported(name, rows, new, made_with)


def join(
    campaign: Campaign,
    staging: Staging,
    origin: Origin,
    options: ImportOptions,
    progress: Progress | bool | None = False,
) -> Imported:
    """Record rows that are staged in a campaign that is there, all or none; see ``import_file``."""
    source = origin.source() if staging.place(campaign.settings.repeat_workers) else None
    store, identity = campaign._store, campaign._identity
    rows, replace = staging.results, options.get("replace", False)
    if options.get("add_arms"):
        roster.add(store, identity, Clock(), ((task, None) for task in staging.tasks()))
    with joining(
        store, identity, lambda arms: progress_bar("counting", arms, not callable(progress) and progress)
    ) as own:
        if source is not None:
            for keys in _beyond(store, identity, staging, source, replace):
                own.withdraw(keys)
        with progress_bar("importing", rows, progress) as advance:
            _stage(own, staging, _batches(_results(staging, source), advance), replace)
        while overtaken := own.decide(source):
            _stage(own, staging, _batches(staging.kept(overtaken)), replace)
    keep_up(store, identity, Clock(), wholly=True)
    return Imported(campaign.name, rows, own.new, None, own.withdrawn)


def _stage(own: Joining, staging: Staging, batches: Iterable[Batch], replace: bool) -> None:
    """Stage results, and keep those that may be overtaken by the answer that they are."""
    for batch in batches:
        settled = own.stage(batch, replace)
        staging.keep((pull.number, batch.observations[pull.place], batch.places[pull.place]) for pull in settled)


def _results(staging: Staging, source: Source | None) -> Iterator[tuple[Observation, str]]:
    """Yield the results of the file, their rewards in billionths, each with where it stands."""
    for row in staging.rows():
        where, reward = f"{staging.where(row.file, row.line)}: ", to_units(row.label)
        for number in range(row.times):
            key = _key_of(staging, row, source, number)
            yield Observation(row.task, reward, row.worker, key, row.note), where


def _key_of(staging: Staging, row: StagedRow, source: Source | None, number: int) -> str:
    """Return the key of a row, or of the n-th result that totals stand for, from 0 on."""
    if row.key is not None:
        return row.key
    if row.place is None or source is None:
        return _key(row.task, row.worker)
    return _key(source.name, row.task, int(row.label) if staging.totals else row.worker, row.place + number)


def _key(*parts: str | int | None) -> str:
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _batches(results: Iterable[tuple[Observation, str]], advance: Progress | None = None) -> Iterator[Batch]:
    every = iter(results)
    while some := list(islice(every, CHUNK)):
        yield Batch([observation for observation, _ in some], [where for _, where in some])
        if advance is not None:
            advance(len(some))


def _beyond(store: Store, campaign: Identity, staging: Staging, source: Source, replace: bool) -> Iterator[list[str]]:
    """Yield the keys of the source's results that come after the file's; raise ConflictError unless ``replace``."""
    ends = staging.ends()
    while some := list(islice(ends, CHUNK)):
        following = {_key_of(staging, row, source, row.times): row for row in some}
        for row in (following[key] for key in observed_keys(store, campaign, list(following))):
            if not replace:
                raise _fewer(staging, row, source)
            number = row.times
            while found := observed_keys(
                store, campaign, [_key_of(staging, row, source, number + i) for i in range(CHUNK)]
            ):
                yield found
                number += CHUNK


def _fewer(staging: Staging, row: StagedRow, source: Source) -> ConflictError:
    where = f"{staging.where(row.file, row.line)}: task {quoted(row.task)}"
    if staging.totals:
        what = f"has {row.times:,} {'yes' if row.label else 'no'} and had more"
    else:
        what = f"has {row.place:,} {'row' if row.place == 1 else 'rows'} and had more"
    return ConflictError(
        f"{where} {what} when {source.name} was imported before; --replace makes this file count instead, another "
        "--source says that its rows are others"
    )
