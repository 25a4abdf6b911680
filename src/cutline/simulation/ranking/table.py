"""The table of a policy: the index of every record that an arm can come to, and the order of those indices.

A short record of coins is a pair of small whole numbers, (pulls, total). Row n of the table has the records with n
pulls, in the order of their totals; ``rows[n] + total`` is where a record stands. The table ends where every arm is
above a level: a record belongs to it only if one that leads there has an index of at most that level. Few records do,
since the excess of an arm that is not above grows with the root of its pulls only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compiling, kernel, made_once, with_parameters
from cutline.policies.policy import Parameters, Policy
from cutline.threshold import is_above

_FIRST_ROOM = 1 << 12


class Layout(NamedTuple):
    """Where records stand: ``rows`` (depth + 1,), and each row's least and largest total, ``lows`` and ``highs``.

    A row that no arm comes to has a largest total below its least.
    """

    rows: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IndexTable:
    """The index of every record below ``depth`` pulls that arms come to before they are above ``level``.

    ``values``: the indices, as ``layout`` says; the last row, the edge, has no values but infinity. ``closed``: no arm
    comes to the edge. ``first``: the pulls of an arm before its first index is looked at, 0 or 1.
    """

    values: NDArray[np.float64]
    layout: Layout
    depth: int
    level: float
    closed: bool
    first: int


class Ranks(NamedTuple):
    """A table as kernels walk it: ``codes`` of records, ``rows`` and ``first`` as above.

    The code of a record is twice its rank, and 1 more where its arm is called above the threshold. The rank of a record
    is the number of different indices in the table below its own. Of a record above the level of the table it is
    ``above``, their number; of one at the edge, ``above + 1``.
    """

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    above: int
    first: int


@made_once
def _filling(policy: type[Policy]) -> Callable[..., tuple[int, int]]:
    """Compile fill(threshold, parameters, level, first, layout, values): a table is filled, row by row.

    It returns how many rows and records there are; -1 rows if there is no room for so many.
    """
    index = with_parameters(policy.index, 3)

    def fill(
        threshold: float,
        parameters: NDArray[np.float64],
        level: float,
        first: int,
        layout: Layout,
        values: NDArray[np.float64],
    ) -> tuple[int, int]:
        least = 0
        largest = first
        place = 0
        for n in range(first, layout.rows.size):
            layout.rows[n] = place - least
            layout.lows[n] = least
            layout.highs[n] = largest
            if place + largest - least + 1 > values.size:
                return -1, place
            if n == layout.rows.size - 1:
                for total in range(least, largest + 1):
                    values[layout.rows[n] + total] = np.inf
                return n + 1, place + largest - least + 1
            next_least = largest + 1
            next_largest = least
            for total in range(least, largest + 1):
                value = index(float(n), float(total), threshold, 0, parameters)
                values[place] = value
                place += 1
                if value <= level:
                    next_least = min(next_least, total)
                    next_largest = total + 1
            if next_least > largest:
                return n + 1, place
            least, largest = next_least, next_largest
        return layout.rows.size, place

    return kernel(fill)


def index_table(policy: Policy, threshold: float, parameters: Parameters, depth: int, level: float) -> IndexTable:
    """Return the table of a policy's indices for arms that are pulled until they are above ``level``.

    ``parameters``: what the index takes after the threshold, numbers. ``depth``: pulls of the records at the edge.
    """
    first = int(policy.pulls_each_arm_first)
    row = np.array([parameters], np.float64)
    layout = Layout(*(np.zeros(depth + 1, np.int64) for _ in range(3)))
    room = _FIRST_ROOM
    while True:
        values = np.empty(room)
        with compiling(policy):
            rows, records = _filling(type(policy))(threshold, row, level, first, layout, values)
        if rows >= 0:
            break
        room *= 4
    kept = Layout(*(part[:rows].copy() for part in layout))
    return IndexTable(values[:records].copy(), kept, depth, level, rows <= depth, first)


def rank(table: IndexTable, threshold: float) -> tuple[Ranks, NDArray[np.float64]]:
    """Return the ranks of a table, and the different indices up to its level, (above,), by their ranks."""
    values = table.values
    inside = values <= table.level
    different = np.unique(values[inside])
    ranks = np.full(values.size, different.size, np.int32)
    ranks[inside] = np.searchsorted(different, values[inside])
    layout = table.layout
    if not table.closed:
        edge = layout.rows[table.depth] + layout.lows[table.depth]
        ranks[edge:] = different.size + 1
    widths = np.maximum(layout.highs - layout.lows + 1, 0)[table.first :]
    pulls = np.repeat(np.arange(table.first, layout.rows.size), widths)
    totals = np.arange(values.size) - layout.rows[pulls]
    return Ranks(2 * ranks + _called(pulls, totals, threshold), layout.rows, different.size, table.first), different


def _called(pulls: NDArray[np.int64], totals: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
    """Say which records are called above; one without pulls is called below."""
    above: NDArray[np.bool_] = is_above(np.maximum(pulls, 1), totals, threshold)
    return above & (pulls > 0)
