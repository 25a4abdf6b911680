"""cutline campaign correct: another reward for a pull that has been told."""

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done


@click.command()
@db_option
@name_option
@click.argument("pull")
@click.argument("reward")
@click.option("--note", metavar="TEXT", help="Text to be kept with the reward instead of the note that it has.")
@click.option("--worker", metavar="NAME", help="Who corrects it; default: the one whose pull it is.")
@done_option
def command(db: str, name: str | None, pull: str, reward: str, note: str | None, worker: str | None, form: str) -> None:
    """Replace the reward of a pull that has been told.

    The old one stays in the history of the arm, which show writes. It costs no budget.

    \b
    Example:
      cutline campaign correct --db labels.db 5f2c81aa-17-3 0
    """
    from cutline.campaign.checks import read_reward
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        corrected = campaign.correct(pull, read_reward(reward), note, worker)
    said = "corrected" if corrected else "has that reward already"
    say_done(f"pull {pull} {said}", {"pull": pull, "corrected": corrected}, form)
