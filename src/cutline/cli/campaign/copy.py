"""cutline campaign copy: another campaign with the same arms."""

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done
from cutline.cli._tables import counted


@click.command()
@db_option
@name_option
@click.argument("new_name", metavar="NEW")
@click.option("--without-results", is_flag=True, help="Copy the arms and the settings only.")
@done_option
def command(db: str, name: str | None, new_name: str, without_results: bool, form: str) -> None:
    """Make another campaign with the same arms and settings.

    It stands in the same database and has the same results. What is in flight is not copied.

    \b
    Examples:
      cutline campaign copy --db labels.db stricter
      cutline campaign copy --db prompts.db --campaign model-a model-b --without-results
    """
    from cutline.campaign.files.exporting import status_row
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign, campaign.copy(new_name, results=not without_results) as made:
        status = made.status()
        before = campaign.name
    results = counted(status.spent + status.observed, "result")
    say_done(
        f"campaign {new_name!r} is a copy of {before!r}: {counted(status.arms, 'arm')}, {results}",
        status_row(status),
        form,
    )
