"""What the readers return: recorded labels, task by task, and totals of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RecordedLabel(NamedTuple):
    """One recorded label: the task and worker as text, the label in [0, 1], the line that it came from, and its key.

    A key says which result it is, wherever it is read from; a note is what was kept with it. None if there is none.
    ``file`` is the name of the file that the line is in.
    """

    task: str
    worker: str | None
    label: float
    line: int
    key: str | None = None
    note: str | None = None
    file: str | None = None


class TaskTotals(NamedTuple):
    """The totals of one task: of ``n`` labels ``yes`` were 1, says this line."""

    task: str
    yes: int
    n: int
    line: int


@dataclass(frozen=True, eq=False)
class Observations:
    """N recorded labels of K tasks, in the order of the file.

    ``tasks`` holds the K task ids in order of first appearance. The rest has one entry a label: ``task``,
    its task as a number into ``tasks``, int64 of shape (N,); ``workers``, its worker or None, N long;
    ``labels``, float64 in [0, 1], shape (N,); ``lines``, the line where it stands, int64, shape (N,).
    ``source`` is the name of the file, for messages. ``keys`` is N long, or None where the file has no such column.
    """

    source: str
    tasks: tuple[str, ...]
    task: NDArray[np.int64]
    workers: tuple[str | None, ...]
    labels: NDArray[np.float64]
    lines: NDArray[np.int64]
    keys: tuple[str | None, ...] | None = None

    def __len__(self) -> int:
        return self.labels.size


@dataclass(frozen=True, eq=False)
class Counts:
    """Totals of K tasks: of ``n`` labels ``yes`` were 1.

    ``tasks`` holds the K task ids in the order of the file, ``yes`` and ``n`` are int64 of shape (K,), n is
    at least 1. ``source`` is the name of the file, for messages.
    """

    source: str
    tasks: tuple[str, ...]
    yes: NDArray[np.int64]
    n: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.n.sum())


@dataclass(frozen=True, eq=False)
class Pilot:
    """What a small first round found out about K arms: the pulls of each and the total of their rewards.

    ``arms`` holds the ids, or the numbers 1 to K as text where the file has none; ``pulls`` is int64 and
    ``totals`` float64, both of shape (K,), with 0 <= total <= pulls. ``places`` says where each arm stands, file and
    line, for messages.
    """

    source: str
    arms: tuple[str, ...]
    pulls: NDArray[np.int64]
    totals: NDArray[np.float64]
    places: tuple[str, ...]
