"""cutline campaign decisions: what is decided."""

from dataclasses import replace
from typing import Any

import click

from cutline.cli._campaigns import answers, db_option, exclude_option, known_option, name_option
from cutline.cli._decisions import decision_options, output_of, show_decisions
from cutline.cli._streams import say
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
@click.option("--threshold", type=float, metavar="X", help="What would be decided with this one; changes nothing.")
@click.option("--retired", is_flag=True, help="The arms that are retired, instead of those that are not.")
@click.option(
    "--workers",
    metavar="weighed",
    help="Weigh the answers of a campaign that counts them alike by who gave them; see docs/workers.md.",
)
@known_option
@exclude_option
@decision_options
def command(  # noqa: PLR0913 - one parameter an option
    db: str,
    name: str | None,
    nearest: int | None,
    confidence: float,
    threshold: float | None,
    retired: bool,
    workers: str | None,
    known: str | None,
    exclude: tuple[str, ...],
    **options: Any,
) -> int:
    """Show which arms are above the threshold, and how sure that is.

    With --workers weighed an arm is above if that is the likelier truth, given how far each worker is to be believed;
    what is asked for next does not depend on it. A campaign whose workers are weighed does both by itself.

    Exit status 5: there are arms that --fail-on names.

    \b
    Examples:
      cutline campaign decisions --db labels.db
      cutline campaign decisions --db labels.db --nearest 20 --format csv
      cutline campaign decisions --db labels.db --workers weighed --known gold.csv --exclude bob
      cutline campaign decisions --db flaky.db --only below --format ids
      cutline campaign decisions --db labels.db --threshold 0.8
    """
    from cutline.campaign.checks import check_weighing
    from cutline.campaign.resume import open_one

    output = output_of(options)
    if nearest is not None and (output.fail_on or output.junit):
        raise InvalidInputError("--fail-on and --junit look at all arms; leave out --nearest")
    weighed = check_weighing(workers or "alike", known, exclude)
    if weighed and (threshold is not None or retired):
        raise InvalidInputError("--threshold and --retired do not go with --workers weighed")
    told = answers(known)
    with open_one(db, name) as campaign:
        if weighed:
            by_weight = campaign.weigh(told, exclude, confidence)
            for remark in by_weight.remarks:
                say(remark)
            found = by_weight.nearest(nearest)
        else:
            found = campaign.decisions(nearest, confidence, threshold, retired)
        output = replace(output, weighed=weighed or campaign.settings.weighed)
        line = campaign.settings.threshold if threshold is None else threshold
        return show_decisions(found, output, campaign.name, line)
