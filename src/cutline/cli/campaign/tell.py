"""cutline campaign tell: what came back."""

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done
from cutline.errors import InvalidInputError


@click.command()
@db_option
@name_option
@click.argument("words", nargs=-1, required=True, metavar="PULL REWARD [PULL REWARD]...")
@click.option("--note", metavar="TEXT", help="Text to be kept with these rewards, such as an answer or a file name.")
@done_option
def command(db: str, name: str | None, words: tuple[str, ...], note: str | None, form: str) -> None:
    """Tell what came back of one pull or more.

    A reward is a number in [0, 1]. All are recorded, or none.

    \b
    Examples:
      cutline campaign tell --db labels.db 5f2c81aa-17-3 1
      cutline campaign tell --db labels.db 5f2c81aa-18-0 0 --note "the picture is blurred"
    """
    from cutline.campaign.checks import read_reward
    from cutline.campaign.resume import open_one

    if len(words) % 2:
        raise InvalidInputError(f"pull {words[-1]!r} has no reward; give pairs of pull and reward")
    rewards = [(pull, read_reward(text), note) for pull, text in zip(words[::2], words[1::2], strict=True)]
    with open_one(db, name) as campaign:
        new = campaign.tell_many(rewards)
    known = len(rewards) - new
    say_done(f"{new} told" + (f", {known} had been told already" if known else ""), {"new": new, "known": known}, form)
