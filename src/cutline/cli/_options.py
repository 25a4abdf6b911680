"""Options that several commands share, and the lists of numbers that they take."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from cutline.checks import check_whole
from cutline.errors import InvalidInputError

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])


def numbers(
    kind: Callable[[str], T], what: str, example: str
) -> Callable[[click.Context, click.Parameter, str | None], list[T] | None]:
    """Return the callback of an option that takes numbers with commas between them: ``0.2,0.4`` or ``100,200``.

    ``kind`` makes a number of a text and raises ValueError where it cannot; ``what`` says what it should have been.
    """

    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> list[T] | None:
        if value is None:
            return None
        found = []
        for place, text in enumerate(value.split(","), 1):
            try:
                found.append(kind(text))
            except ValueError:
                raise InvalidInputError(
                    f"{param.opts[0]}: number {place} is {text.strip()!r}; it must be {what}, as in {example}"
                ) from None
        return found

    return callback


def words(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """The callback of an option that takes words with commas between them: ``no,yes``."""
    return None if value is None else tuple(text.strip() for text in value.split(","))


def batch_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """The callback of an option for the size of batches: a whole number, or auto."""
    if value is None or value == "auto":
        return value
    try:
        size = int(value)
    except ValueError:
        size = 0
    if size < 1:
        raise InvalidInputError(f"{param.opts[0]} is {value!r}; it must be a whole number from 1, or auto")
    return check_whole(param.opts[0], size, 1)


campaign_option = click.option(
    "--campaign", "name", metavar="NAME", help="The campaign; default: the only one there is, or main."
)
lease_option = click.option(
    "--lease",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How soon what was in flight comes back after the run was killed.",
)


def policies_option(first: str) -> Callable[[Command], Command]:
    """Return the option for policies to compare; unless any is given, the first and Uniform."""
    return click.option(
        "--policy",
        "policies",
        multiple=True,
        default=(first, "Uniform"),
        show_default=True,
        metavar="NAME",
        help="A policy such as LSA or 'APT(0.05)', see cutline policies; repeat it for more.",
    )


decide_option = click.option(
    "--decide",
    default="mean",
    show_default=True,
    metavar="mean|likelier",
    help="Call an arm by its own mean, or by the likelier side under a prior that is learnt from all arms.",
)
threshold_option = click.option(
    "--threshold",
    type=float,
    default=0.5,
    show_default=True,
    metavar="X",
    help="An arm is above with a mean of at least this.",
)


def means_option(what: str) -> Callable[[Command], Command]:
    """Return the option for a list of means; ``what`` says what they are."""
    return click.option("--means", callback=numbers(float, "a number", "0.2,0.4"), metavar="0.2,0.4,...", help=what)


means_file_option = click.option(
    "--means-file",
    metavar="FILE",
    help="A file of means instead: one a line, or a column of a table; - for standard input.",
)
means_column_option = click.option(
    "--means-column", metavar="NAME", help="The column of the means; default: mean, or the only one."
)
jobs_option = click.option("--jobs", type=int, metavar="N", help="Threads to use; default: one for each core.")
dask_option = click.option(
    "--dask", metavar="ADDRESS", help="Work on a Dask cluster instead: its scheduler, such as tcp://10.0.0.1:8786."
)
seed_option = click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="S",
    help="A number that the random draws follow from; the same gives the same result.",
)
rows_format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How the result is written.",
)
plot_option = click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the errors over the budget too: .svg, .png or .pdf.",
)


def label_options(command: Command) -> Command:
    """Add the options that say where the labels of a file are and what they mean; None where one is not given."""
    for option in reversed(_LABELS):
        command = option(command)
    return command


def label_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take what ``label_options`` were given out of the options of a command, and return it."""
    names = ("format", "where", "task_col", "worker_col", "label_col", "positive", "negative", "skip")
    return {name: options.pop(name) for name in names}


_LABELS = (
    click.option(
        "--from",
        "format",
        metavar="NAME",
        help="The format of the file, such as label-studio, junit or table; default: what its beginning shows.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Only rows of a flat file with this value count; repeat it for more columns, or more values of one.",
    ),
    click.option("--task-col", metavar="NAME", help="Column of the task; default: task, arm, question, taskId, ..."),
    click.option(
        "--worker-col", metavar="NAME", help="Column of the worker; default: worker, annotator, performer, ..."
    ),
    click.option("--label-col", metavar="NAME", help="Column of the label; default: label, answer or reward."),
    click.option("--positive", multiple=True, metavar="TEXT", help="A label that counts as 1; repeat it for more."),
    click.option(
        "--negative",
        multiple=True,
        metavar="TEXT",
        help="A label that counts as 0; repeat it for more. Goes with --positive; without it every other is 0.",
    ),
    click.option(
        "--skip", multiple=True, metavar="TEXT", help="A label to leave out, with its row; repeat it for more."
    ),
)


@contextmanager
def executor_of(jobs: int | None, dask: str | None) -> Iterator[Executor | int | None]:
    """Yield what ``--jobs`` and ``--dask`` ask for; raise InvalidInputError for both, and what ``cluster`` raises."""
    if dask is None:
        yield jobs
        return
    if jobs is not None:
        raise InvalidInputError("give --jobs, threads of this machine, or --dask, a cluster; not both")
    from cutline.cluster import cluster

    with cluster(dask) as executor:
        yield executor
