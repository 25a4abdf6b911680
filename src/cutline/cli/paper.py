"""cutline paper: every experiment of the paper."""

from pathlib import Path

import click

from cutline.cli._options import dask_option, executor_of, jobs_option, numbers, seed_option
from cutline.cli._streams import say


@click.command(name="paper")
@click.option("--runs", type=int, default=5000, show_default=True, metavar="N", help="Runs of every policy.")
@click.option(
    "--setups",
    callback=numbers(int, "a whole number", "1,2"),
    default="1,2,3,4,5,6",
    show_default=True,
    metavar="1,2,...",
    help="Which of the six setups to simulate.",
)
@click.option("--beyond", is_flag=True, help="Simulate what came after the paper too: Lai, KL-LSA and FWT.")
@seed_option
@jobs_option
@dask_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="paper-results",
    show_default=True,
    metavar="DIR",
    help="The folder to write into.",
)
def command(
    runs: int, setups: list[int], beyond: bool, seed: int, jobs: int | None, dask: str | None, out: Path
) -> None:
    """Make the figures and the table of the paper.

    Its setups are simulated; figures, the table of t-tests, curves and a manifest are written, a summary is printed.

    \b
    Examples:
      cutline paper
      cutline paper --setups 1,2 --runs 500 --out quick-look
      cutline paper --beyond
    """
    from cutline.paper.report import make_paper

    with executor_of(jobs, dask) as executor:
        click.echo(make_paper(out, setups=setups, runs=runs, seed=seed, beyond=beyond, executor=executor), nl=False)
    say(f"wrote {out}")
