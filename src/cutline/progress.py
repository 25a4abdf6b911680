"""A progress bar on a terminal, and silence anywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], object]
"""Told how much more has been done."""


@contextmanager
def progress_bar(title: str, total: int, progress: Progress | bool | None = None) -> Iterator[Progress]:
    """Yield a function to call with each amount done of ``total``.

    ``progress``: a callable is passed through; False shows nothing; None and True show a bar with the time left on
    standard error, if that is a terminal.
    """
    if callable(progress):
        yield progress
    elif progress is False or sys.stderr is None or not sys.stderr.isatty():
        yield lambda amount: None
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda amount: bar.advance(task, amount)
