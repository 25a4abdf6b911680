"""cutline export: what a campaign holds, as a file."""

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._decisions import check_safe_csv, safe_csv_option


@click.command(name="export")
@click.argument("what", type=click.Choice(["observations", "decisions"]))
@db_option
@name_option
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="The file to write; default: standard output."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl"]),
    help="How it is written; default: as the file's name ends, else csv.",
)
@safe_csv_option
def command(what: str, db: str, name: str | None, out: Path | None, form: str | None, safe_csv: bool) -> None:
    """Write the results of a campaign, or its decisions.

    Observations are its results, with the columns task, worker, label, key and note; decisions are what it says of each
    arm.

    Observations can be imported and replayed; importing them into the campaign that they come from changes nothing.

    \b
    Examples:
      cutline export observations --db labels.db --out results.csv
      cutline export decisions --db labels.db --format jsonl
    """
    from cutline.campaign.decisions import DECISION_COLUMNS, decision_rows
    from cutline.campaign.files.exporting import RESULT_COLUMNS, result_rows, write_csv, write_jsonl
    from cutline.campaign.resume import open_one
    from cutline.files import whole_file

    form = form or ("jsonl" if out and out.suffix in (".jsonl", ".ndjson") else "csv")
    check_safe_csv(safe_csv, form)
    with open_one(db, name) as campaign, whole_file(out) if out else nullcontext(sys.stdout) as file:
        observations = what == "observations"
        rows = result_rows(campaign) if observations else decision_rows(campaign.decisions())
        if form == "csv":
            write_csv(rows, RESULT_COLUMNS if observations else DECISION_COLUMNS, file, safe=safe_csv)
        else:
            write_jsonl(rows, file)
