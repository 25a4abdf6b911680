"""cutline replay: what a policy would have made of labels that are there already."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cutline.cli._options import (
    decide_option,
    jobs_option,
    label_options,
    label_reading,
    numbers,
    plot_option,
    policies_option,
    rows_format_option,
    seed_option,
    threshold_option,
)
from cutline.cli._streams import require_output, say
from cutline.cli._tables import as_json, table
from cutline.defaults import POLICY
from cutline.text import number

if TYPE_CHECKING:
    from cutline.recorded.result import Replay


@click.command(name="replay")
@click.argument("labels", nargs=-1, required=True, metavar="LABELS...")
@click.option("--gold", metavar="FILE", help="True answers: columns task and label (or truth, or gold).")
@label_options
@threshold_option
@policies_option(POLICY)
@click.option(
    "--budgets",
    callback=numbers(int, "a whole number", "100,200"),
    metavar="100,200,...",
    help="After how many labels to look, increasing; default: 20 steps from one a task to all.",
)
@click.option(
    "--runs", type=int, default=100, show_default=True, metavar="N", help="How many random orders of the labels to try."
)
@click.option(
    "--within",
    type=float,
    default=0.01,
    show_default=True,
    metavar="X",
    help="How near to the accuracy of all labels is near enough, for the last line.",
)
@decide_option
@click.option(
    "--workers",
    default="alike",
    show_default=True,
    metavar="alike|weighed",
    help="Count all labels alike, or also weighed by who gave them; see docs/workers.md.",
)
@click.option(
    "--known",
    metavar="FILE",
    help="Answers that are known beforehand, to weigh workers by: columns task and label. They do not count as gold.",
)
@seed_option
@jobs_option
@rows_format_option
@plot_option
def command(
    labels: tuple[str, ...],
    gold: str | None,
    policies: tuple[str, ...],
    within: float,
    known: str | None,
    jobs: int | None,
    form: str,
    plot: Path | None,
    **options: Any,
) -> None:
    """Try policies on labels that you already have.

    Each draws them in a random order, and what counts is how many tasks are on the wrong side after so many labels.

    LABELS is a file with the columns task, worker and label, or task, yes and n (CSV, TSV, JSON Lines or a JSON array,
    gzipped or not, - for standard input), or what a tool writes, see docs/formats.md, or the name of a set that ships:
    bluebirds.

    \b
    Examples:
      cutline replay bluebirds
      cutline replay labels.csv --gold gold.csv --policy LSA --policy Uniform --runs 100 --plot errors.svg
      cutline replay bluebirds --workers weighed --runs 20
      cutline replay answers.tsv --task-col item --positive yes --within 0.02 --format csv
    """
    from cutline.policies import parse
    from cutline.recorded.replay import replay
    from cutline.recorded.result import check_within
    from cutline.recorded.sources import open_source, read_answers
    from cutline.threshold import check_threshold

    require_output()
    reading = label_reading(options)
    check_threshold(options["threshold"])  # before a long file is read
    check_within(within)
    chosen = [parse(policy) for policy in policies]
    if plot:
        from cutline.plotting import require_drawable

        require_drawable(plot)
    recorded, answers = open_source(labels, gold, remark=say, **reading)
    told = None if known is None else read_answers(known, **reading)
    found = replay(recorded, chosen, gold=answers, known=told, executor=jobs, **options)
    for remark in found.remarks:
        say(remark)
    click.echo({"table": _table, "csv": _csv, "json": _json}[form](found), nl=False)
    (click.echo if form == "table" else say)(found.sentence(within))
    if plot:
        found.plot(plot)


def _csv(found: "Replay") -> str:
    return found.to_csv()


def _json(found: "Replay") -> str:
    return as_json(found.rows())


def _table(found: "Replay") -> str:
    header = ["policy", "budget", "runs", "mean errors", "standard error", "mean gold errors", "gold standard error"]
    columns = len(header) if found.against_gold else len(header) - 2
    rows = [
        [
            row["policy"],
            f"{row['budget']:,}",
            f"{row['runs']:,}",
            *(
                number(row[name])
                for name in ("mean_errors", "standard_error", "mean_gold_errors", "gold_standard_error")
            ),
        ][:columns]
        for row in found.rows()
    ]
    return table(header[:columns], rows) + "\n"
