"""cutline campaign workers: who works on a campaign."""

import click

from cutline.cli._campaigns import answers, db_option, exclude_option, known_option, name_option
from cutline.cli._streams import say
from cutline.cli._tables import as_json, format_option, table
from cutline.text import moment, number


@click.command()
@db_option
@name_option
@click.option(
    "--rates",
    is_flag=True,
    help="Also how often each is right, with 95 percent intervals, as all answers show it; see docs/workers.md.",
)
@known_option
@exclude_option
@format_option
def command(db: str, name: str | None, rates: bool, known: str | None, exclude: tuple[str, ...], form: str) -> None:
    """Show who works on a campaign.

    How many answers each gave, the share of them on the same side of the threshold as the decision of their arm, and
    when each was last seen. Nobody is left out of anything for it.

    \b
    Examples:
      cutline campaign workers --db labels.db
      cutline campaign workers --db labels.db --rates --known gold.csv
    """
    from cutline.campaign.checks import check_weighing
    from cutline.campaign.files.exporting import rate_in_words, rated_rows, worker_row
    from cutline.campaign.resume import open_one

    weighed = check_weighing("weighed" if rates else "alike", known, exclude)
    told = answers(known)
    with open_one(db, name) as campaign:
        found = campaign.weigh(told, exclude) if weighed else None
        workers = campaign.workers()
    rows = [worker_row(worker) for worker in workers] if found is None else rated_rows(workers, found)
    for remark in () if found is None else found.remarks:
        say(remark)
    if form == "json":
        click.echo(as_json(rows), nl=False)
        return
    header = ["worker", "answers", "agree", "in flight", "last seen"] + ["right on no", "right on yes"] * rates
    lines = [
        [
            row["worker"],
            f"{row['answers']:,}",
            number(row["agreement"], 3),
            f"{row['in_flight']:,}",
            moment(row["last_seen"]),
            *(rate_in_words(row, side) for side in ("no", "yes") if rates),
        ]
        for row in rows
    ]
    click.echo(table(header, lines), nl=False)
