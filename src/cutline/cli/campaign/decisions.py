"""cutline campaign decisions: what is decided."""

from typing import Any

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._decisions import decision_options, output_of, show_decisions
from cutline.errors import InvalidInputError


@click.command()
@db_option
@name_option
@click.option("--nearest", type=int, metavar="N", help="Only the N arms that are most likely to be wrong, these first.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="P",
    help="The confidence of the interval from low to high.",
)
@decision_options
def command(db: str, name: str | None, nearest: int | None, confidence: float, **options: Any) -> int:
    """Show which arms are above the threshold, and how sure that is.

    Exit status 5: there are arms that --fail-on names.

    \b
    Examples:
      cutline campaign decisions --db labels.db
      cutline campaign decisions --db labels.db --nearest 20 --format csv
      cutline campaign decisions --db flaky.db --only below --format ids
    """
    from cutline.campaign.resume import open_one

    output = output_of(options)
    if nearest is not None and (output.fail_on or output.junit):
        raise InvalidInputError("--fail-on and --junit look at all arms; leave out --nearest")
    with open_one(db, name) as campaign:
        found = campaign.decisions(nearest, confidence)
        return show_decisions(found, output, campaign.name, campaign.settings.threshold)
