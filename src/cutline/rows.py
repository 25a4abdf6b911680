"""Results that are a table: shown as one in a notebook, and turned into a DataFrame."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from cutline.errors import MissingDependencyError
from cutline.text import shown

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_SHOWN = 20
"""So many rows a notebook shows; the first ones."""


class Rows(ABC):
    """Base of results that have rows."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return one dict a row, all with the same keys; ``polars.DataFrame`` takes them, too."""

    def to_frame(self) -> "DataFrame":
        """Return the rows as a pandas DataFrame; raise MissingDependencyError without pandas."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise MissingDependencyError("to_frame needs pandas: pip install pandas") from error
        return DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.rows())


def html_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as an HTML table, at most ``MOST_SHOWN`` of them; all text is escaped."""
    if not rows:
        return "<p>no rows</p>"
    lines = ["<table>", _line("th", rows[0])]
    lines += [_line("td", [_cell(value) for value in row.values()]) for row in rows[:MOST_SHOWN]]
    lines.append("</table>")
    if len(rows) > MOST_SHOWN:
        lines.append(f"<p>{len(rows) - MOST_SHOWN:,} more rows</p>")
    return "\n".join(lines)


def _line(tag: str, cells: Any) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in cells) + "</tr>"


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else shown(str(value))
