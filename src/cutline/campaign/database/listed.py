"""A list of whole numbers as the rows of a statement, so that one statement writes many rows, in both databases."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, TableValuedAlias, bindparam, column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Listed(FunctionElement[Any]):
    """The rows of the JSON array that a parameter holds."""

    inherit_cache = True


@compiles(_Listed, "sqlite")
def _on_sqlite(element: _Listed, compiler: Any, **how: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **how)})"


@compiles(_Listed, "postgresql")
def _on_postgresql(element: _Listed, compiler: Any, **how: Any) -> str:
    array = f"json_array_elements_text(CAST({compiler.process(element.clauses, **how)} AS json))"
    return f"(SELECT place - 1 AS key, CAST(each AS bigint) AS value FROM {array} WITH ORDINALITY AS one(each, place))"


def listed(parameter: str) -> TableValuedAlias:
    """Return the rows of a list: ``key``, the place in it from 0 on, and ``value``. See ``as_list``."""
    array: Any = _Listed(bindparam(parameter))
    rows: TableValuedAlias = array.table_valued(column("key", BigInteger), column("value", BigInteger))
    return rows


def as_list(numbers: Iterable[int]) -> str:
    """Return the parameter that stands for these numbers."""
    return f"[{','.join(map(str, numbers))}]"
