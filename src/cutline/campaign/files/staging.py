"""Rows of a file on their way into a campaign: in a temporary database on the disk that is gone with its process.

So a file of any length is checked as a whole, and takes its place among rows before it, in little memory.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self

from cutline.campaign.results import Observation
from cutline.errors import InvalidInputError, StoreError
from cutline.recorded.observations import RecordedLabel, TaskTotals
from cutline.text import quoted

_BATCH = 5_000

_TABLE = """
CREATE TABLE rows (
    position INTEGER PRIMARY KEY, file INTEGER, line INTEGER, task TEXT, worker TEXT, label REAL, key TEXT, note TEXT,
    times INTEGER, place INTEGER
)
"""


_KEPT = """
CREATE TABLE kept (
    number INTEGER PRIMARY KEY, arm TEXT, reward INTEGER, worker TEXT, key TEXT, note TEXT, place TEXT
)
"""


class StagedRow(NamedTuple):
    """So many ``times`` one label of a task; ``place`` is that of the first among the rows of its kind.

    ``file`` is a number, see ``Staging.where``.
    """

    position: int
    file: int
    line: int
    task: str
    worker: str | None
    label: float
    key: str | None
    note: str | None
    times: int
    place: int | None


class Staging:
    """The rows of one file; ``name`` is what the file is called in messages, ``totals`` whether they are totals."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.totals = False
        self._files = {name: 0}
        self._rows = sqlite3.connect("", isolation_level=None)
        self._rows.execute("PRAGMA cache_size = -16384")
        self._rows.execute(_TABLE)
        self._rows.execute(_KEPT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._rows.close()
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"{self.name}: no room for its rows in a temporary file: {error}") from None

    def fill(self, recorded: Iterable[RecordedLabel | TaskTotals]) -> None:
        """Take all rows; raise InvalidInputError for a task that stands twice among totals, and what reading raises."""
        self._rows.execute("BEGIN")
        every = iter(recorded)
        while batch := list(islice(every, _BATCH)):
            self._rows.executemany(
                "INSERT INTO rows (file, line, task, worker, label, key, note, times) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [row for item in batch for row in self._rows_of(item)],
            )
            self.totals = self.totals or isinstance(batch[0], TaskTotals)
        self._rows.execute("COMMIT")
        if self.totals:
            self._check_once()

    def fill_with(self, files: Iterable[str], totals: bool, rows: Iterable[Sequence[Any]]) -> None:
        """Take the rows that ``sent`` of another staging yielded, whose ``files`` and ``totals`` these are."""
        self._files, self.totals = {name: number for number, name in enumerate(files)}, totals
        self._rows.execute("BEGIN")
        self._rows.executemany(
            "INSERT INTO rows (file, line, task, worker, label, key, note, times) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )
        self._rows.execute("COMMIT")
        if totals:
            self._check_once()

    def sent(self) -> Iterator[tuple[Any, ...]]:
        """Yield all rows for ``fill_with``: file, line, task, worker, label, key, note and how often it stands."""
        yield from self._rows.execute(
            "SELECT file, line, task, worker, label, key, note, times FROM rows ORDER BY position"
        )

    @property
    def files(self) -> list[str]:
        """The names of the files that rows are from."""
        return list(self._files)

    def where(self, file: int, line: int) -> str:
        """Return a line of a file as messages name it."""
        return f"{self.files[file]}, line {line}"

    @property
    def results(self) -> int:
        """How many results the rows are."""
        return int(self._one("SELECT sum(times) FROM rows"))

    def tasks(self) -> Iterator[str]:
        """Yield each task once, in the order of the file."""
        for (task,) in self._rows.execute("SELECT task FROM rows GROUP BY task ORDER BY min(position)"):
            yield task

    def place(self, workers_repeat: bool) -> bool:
        """Give a place to rows that nothing else identifies; return whether there are such.

        Raises InvalidInputError, with both lines, for a worker's second label of a task unless workers repeat.
        """
        if self.totals:
            self._rows.execute("UPDATE rows SET place = 1")
            return True
        if not workers_repeat:
            self._check_one_answer()
        nameless = "key IS NULL" if workers_repeat else "key IS NULL AND worker IS NULL"
        self._rows.execute(
            "UPDATE rows SET place = placed.place FROM (SELECT position, row_number() OVER "
            f"(PARTITION BY task, worker ORDER BY position) AS place FROM rows WHERE {nameless}) AS placed "
            "WHERE rows.position = placed.position"
        )
        return bool(self._one("SELECT exists (SELECT 1 FROM rows WHERE place IS NOT NULL)"))

    def rows(self) -> Iterator[StagedRow]:
        """Yield the rows in the order of the file."""
        return map(StagedRow._make, self._rows.execute("SELECT * FROM rows WHERE times > 0 ORDER BY position"))

    def ends(self) -> Iterator[StagedRow]:
        """Yield the last row of each kind of those that have a place: of each task and worker, or task and label."""
        kind = "task, label" if self.totals else "task, worker"
        query = f"SELECT *, max(position) FROM rows WHERE place IS NOT NULL GROUP BY {kind} ORDER BY position"
        return (StagedRow._make(row[:-1]) for row in self._rows.execute(query))

    def keep(self, results: Iterable[tuple[int, Observation, str]]) -> None:
        """Keep results, each by a number, with where it stands."""
        self._rows.executemany(
            "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, *observation, place) for number, observation, place in results],
        )

    def kept(self, numbers: Iterable[int]) -> Iterator[tuple[Observation, str]]:
        """Yield what was kept by these numbers."""
        query = "SELECT arm, reward, worker, key, note, place FROM kept WHERE number = ?"
        for number in numbers:
            *observation, place = self._rows.execute(query, (number,)).fetchone()
            yield Observation._make(observation), place

    def _check_once(self) -> None:
        row = self._rows.execute(
            "SELECT file, line, task FROM (SELECT *, row_number() OVER (PARTITION BY task, label ORDER BY position) "
            "AS nth FROM rows) WHERE nth = 2 ORDER BY position LIMIT 1"
        ).fetchone()
        if row is not None:
            raise InvalidInputError(
                f"{self.where(*row[:2])}: {quoted(row[2])} stands further up already; give each once"
            )

    def _check_one_answer(self) -> None:
        row = self._rows.execute(
            "SELECT file, line, task, worker, first_file, first_line FROM (SELECT *, "
            "first_value(label) OVER answers AS first_label, first_value(line) OVER answers AS first_line, "
            "first_value(file) OVER answers AS first_file FROM rows WHERE key IS NULL AND worker IS NOT NULL "
            "WINDOW answers AS (PARTITION BY task, worker ORDER BY position)) "
            "WHERE label != first_label ORDER BY position LIMIT 1"
        ).fetchone()
        if row is not None:
            file, line, task, worker, first_file, first_line = row
            here = self.where(file, line)
            first = f"line {first_line}" if first_file == file else self.where(first_file, first_line)
            raise InvalidInputError(
                f"{here}: worker {quoted(worker)} has another label of task {quoted(task)} in {first}; where workers "
                "may answer again, make the campaign with repeat_workers"
            )

    def _rows_of(self, item: RecordedLabel | TaskTotals) -> Iterator[tuple[Any, ...]]:
        if isinstance(item, RecordedLabel):
            file = self._files.setdefault(item.file or self.name, len(self._files))
            yield file, item.line, item.task, item.worker, item.label, item.key, item.note, 1
        else:
            yield 0, item.line, item.task, None, 1.0, None, None, item.yes
            yield 0, item.line, item.task, None, 0.0, None, None, item.n - item.yes

    def _one(self, query: str) -> int:
        return int(self._rows.execute(query).fetchone()[0] or 0)
