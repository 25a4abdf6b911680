"""cutline campaign create: make a campaign."""

from typing import Any

import click

from cutline.cli._campaigns import (
    answers,
    db_option,
    done_option,
    known_option,
    say_done,
    settings,
    settings_options,
    wording_options,
)
from cutline.cli._streams import say
from cutline.cli._tables import counted
from cutline.defaults import POLICY
from cutline.errors import InvalidInputError


@click.command()
@db_option
@click.option("--campaign", "name", default="main", show_default=True, metavar="NAME", help="The campaign's name.")
@click.option(
    "--arms",
    "arms_file",
    required=True,
    metavar="FILE",
    help="The arms, one id a line, or JSON Lines with payloads and known answers; - for standard input.",
)
@settings_options
@wording_options
@known_option
@done_option
def command(db: str, name: str, arms_file: str, known: str | None, form: str, **options: Any) -> None:
    """Create a campaign, and the database where there is none.

    --threshold and --budget are needed.

    \b
    Examples:
      cutline campaign create --db labels.db --arms tasks.txt --threshold 0.5 --budget 4000
      cutline campaign create --db birds.db --arms pictures.txt --threshold 0.5 --budget 4000 \\
          --question "Is it a bird?" --labels "not a bird,bird" --keys x,b
      cutline campaign create --db labels.db --arms tasks.txt --threshold 0.5 --budget 4000 \\
          --workers weighed --known gold.csv --known-rate 0.05
    """
    from cutline.campaign import Campaign
    from cutline.campaign.database.connecting.address import label
    from cutline.campaign.files.arms_file import read_arms
    from cutline.campaign.files.exporting import status_row

    given = {key: value for key, value in settings(options).items() if value is not None}
    for needed in ("threshold", "budget"):
        if needed not in given:
            raise InvalidInputError(f"--{needed} is missing")
    arms = read_arms(arms_file)
    told = arms.answers(answers(known))
    with Campaign.create(db, name, arms.payloads, known=told, **{"policy": POLICY} | given) as campaign:
        status = campaign.status()
    say_done(f"campaign {name!r} in {label(db)}: {counted(len(arms.payloads), 'arm')}", status_row(status), form)
    if status.warning:
        say(status.warning)
