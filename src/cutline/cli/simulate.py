"""cutline simulate: policies on the user's own problem."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cutline.cli._options import (
    dask_option,
    decide_option,
    executor_of,
    jobs_option,
    means_column_option,
    means_file_option,
    means_option,
    numbers,
    plot_option,
    policies_option,
    rows_format_option,
    seed_option,
    threshold_option,
)
from cutline.cli._streams import require_output
from cutline.cli._tables import as_json, table
from cutline.errors import InvalidInputError
from cutline.text import number

if TYPE_CHECKING:
    from cutline.problem import Problem
    from cutline.simulation.curves import RegretCurves


@click.command(name="simulate")
@means_option("The arms' true mean rewards.")
@means_file_option
@means_column_option
@threshold_option
@policies_option("LSA")
@click.option(
    "--budgets",
    callback=numbers(int, "a whole number", "100,200"),
    required=True,
    metavar="100,200,...",
    help="After how many pulls to look, increasing.",
)
@click.option("--runs", type=int, default=5000, show_default=True, metavar="N", help="Runs of every policy.")
@seed_option
@click.option(
    "--streams",
    default="common",
    show_default=True,
    metavar="common|independent",
    help="Whether all policies see the same rewards or each has its own.",
)
@decide_option
@jobs_option
@dask_option
@rows_format_option
@plot_option
def command(  # noqa: PLR0913 - one parameter an option
    means: list[float] | None,
    means_file: str | None,
    means_column: str | None,
    threshold: float,
    policies: tuple[str, ...],
    budgets: list[int],
    runs: int,
    seed: int,
    streams: str,
    decide: str,
    jobs: int | None,
    dask: str | None,
    form: str,
    plot: Path | None,
) -> None:
    """Simulate policies on arms whose means you give.

    The result is the mean number of wrong decisions (the aggregate regret) of every policy at every budget.

    \b
    Examples:
      cutline simulate --means 0.2,0.4,0.45,0.55,0.7 --budgets 100,200,400
      cutline simulate --means-file means.csv --policy LSA --policy 'APT(0.05)' \\
          --budgets 1000,2000,4000 --format csv --plot regret.svg
    """
    from cutline.simulation.simulate import simulate

    require_output()
    problem = _problem(means, means_file, means_column, threshold)
    if plot:
        from cutline.plotting import require_drawable

        require_drawable(plot)
    with executor_of(jobs, dask) as executor:
        curves = simulate(
            problem,
            policies,
            budgets,
            runs=runs,
            seed=seed,
            streams=streams,
            decide=decide,
            pulls=False,
            executor=executor,
        )
    click.echo({"table": _table, "csv": _csv, "json": _json}[form](curves), nl=False)
    if plot:
        arms = "arm" if problem.arms == 1 else "arms"
        curves.plot(plot, title=f"{problem.arms:,} {arms}, threshold {problem.threshold:g}")


def _problem(means: list[float] | None, means_file: str | None, column: str | None, threshold: float) -> "Problem":
    from cutline.problem import Problem
    from cutline.threshold import check_threshold

    if (means is None) == (means_file is None):
        raise InvalidInputError("give the means once: either --means 0.2,0.4 or --means-file FILE")
    if column is not None and means_file is None:
        raise InvalidInputError("--means-column goes with --means-file")
    check_threshold(threshold)  # before a long file is read
    if means_file is not None:
        from cutline.recorded.readers import read_means

        return Problem(read_means(means_file, column=column), threshold)
    return Problem(means or [], threshold)


def _csv(curves: "RegretCurves") -> str:
    return curves.to_csv()


def _json(curves: "RegretCurves") -> str:
    return as_json(curves.rows())


def _table(curves: "RegretCurves") -> str:
    rows = (
        [name, f"{budget:,}", f"{runs:,}", number(mean), number(error)]
        for name, budget, runs, mean, error in (row.values() for row in curves.rows())
    )
    return table(["policy", "budget", "runs", "mean errors", "standard error"], rows)
