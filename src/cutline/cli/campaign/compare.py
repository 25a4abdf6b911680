"""cutline campaign compare: two campaigns with the same arms."""

from typing import Any

import click

from cutline.cli._campaigns import db_option
from cutline.cli._streams import say
from cutline.cli._tables import as_json, counted, format_option, table
from cutline.text import number


@click.command()
@db_option
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--other-db", metavar="URL", help="The database of B; default: that of A.")
@click.option("--all", "whole", is_flag=True, help="Show all arms, not only those that are decided differently.")
@format_option
def command(db: str, first: str, second: str, other_db: str | None, whole: bool, form: str) -> None:
    """Show where two campaigns with the same arms differ.

    The arms that one of them calls above and the other below, the clearest first, and how probable it is that an arm's
    true mean is higher in A. With json, all arms.

    \b
    Example:
      cutline campaign compare --db prompts.db model-a model-b
    """
    from cutline.campaign import Campaign, compare

    with Campaign.open(db, first) as ours, Campaign.open(other_db or db, second) as theirs:
        found = compare(ours, theirs)
    say(
        f"{counted(len(found.arms), 'arm')} in both, {len(found.differing):,} decided differently; {found.first!r} has "
        f"the higher mean in all with probability {number(found.higher, 4)}"
    )
    if found.first_only or found.second_only:
        say(f"left out: {counted(found.first_only, 'arm')} of A alone, {counted(found.second_only, 'arm')} of B alone")
    if form == "json":
        summary: dict[str, Any] = {"first": found.first, "second": found.second, "higher": found.higher}
        click.echo(as_json(summary | {"arms": found.rows()}), nl=False)
        return
    header = ["arm", "mean in A", "decision", "mean in B", "decision", "A is higher"]
    lines = [
        [
            arm.arm,
            number(arm.first_mean),
            arm.first_decision,
            number(arm.second_mean),
            arm.second_decision,
            number(arm.higher),
        ]
        for arm in (found.arms if whole else found.differing)
    ]
    click.echo(table(header, lines), nl=False)
