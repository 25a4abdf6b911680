"""cutline campaign change: more budget, another threshold, another policy."""

from collections.abc import Callable
from typing import Any

import click

from cutline.cli._campaigns import answers, db_option, done_option, known_option, name_option, say_done
from cutline.cli._options import numbers, words
from cutline.errors import InvalidInputError


def _or(word: str, read: Callable[[click.Context, click.Parameter, str], Any]) -> Callable[..., tuple[Any] | None]:
    """Return the callback of an option whose value is what ``read`` makes of it, in a tuple; ``word`` stands for None.

    If the option is not given the value is None.
    """

    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Any] | None:
        if value is None:
            return None
        return (None,) if value == word else (read(ctx, param, value),)

    return callback


def _number(kind: Callable[[str], Any], what: str, word: str) -> Callable[..., tuple[Any] | None]:
    def read(ctx: click.Context, param: click.Parameter, value: str) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise InvalidInputError(f"{param.opts[0]} is {value!r}; it must be {what}, or {word}") from None

    return _or(word, read)


@click.command()
@db_option
@name_option
@click.option("--budget", type=int, metavar="T", help="How many measurements there may be in all: more, or less.")
@click.option("--threshold", type=float, metavar="X", help="An arm is above with a mean of at least this.")
@click.option("--policy", metavar="NAME", help="What chooses the next arm, see cutline policies.")
@click.option(
    "--max-pulls-per-arm",
    callback=_number(int, "a whole number", "none"),
    metavar="N|none",
    help="The most results that an arm may have.",
)
@click.option(
    "--prior",
    callback=_or("learnt", lambda *given: tuple(numbers(float, "a number", "1,1, or learnt")(*given) or ())),
    metavar="A,B|learnt",
    help="What is believed of a mean beforehand, Beta(A, B), or learnt from the results of all arms.",
)
@click.option("--decide", metavar="RULE", help="What an arm is called: likelier or mean; see campaign create.")
@click.option(
    "--target-errors",
    callback=_number(float, "a number", "none"),
    metavar="E|none",
    help="Stop as soon as the expected number of wrong decisions is at most this.",
)
@click.option(
    "--question",
    callback=_or("none", lambda context, parameter, text: text),
    metavar="TEXT|none",
    help="What the page to label on asks; none, also below: what its server asks.",
)
@click.option(
    "--labels",
    callback=_or("none", words),
    metavar="A,B|none",
    help="The words on its two buttons: of the reward 0, and of 1.",
)
@click.option("--keys", callback=_or("none", words), metavar="A,B|none", help="Their keys, next to the arrows.")
@click.option(
    "--add-arms",
    "add",
    metavar="FILE",
    help="Add the arms that are new among these, one id a line, or JSON Lines with payloads, which replace those that "
    "are there, and known answers; - for standard input.",
)
@click.option(
    "--retire-arms", "retire", metavar="FILE", help="Ask for these no more, and decide nothing; their results stay."
)
@click.option("--bring-back-arms", "bring_back", metavar="FILE", help="Have these take part again.")
@click.option("--workers", metavar="alike|weighed", help="How results count; see campaign create.")
@click.option(
    "--exclude", multiple=True, metavar="WORKER", help="Weigh the results of this worker nothing, too; repeatable."
)
@click.option("--readmit", multiple=True, metavar="WORKER", help="Weigh this worker's results again; repeatable.")
@click.option("--known-rate", type=float, metavar="P", help="The share of measurements of arms whose answer is known.")
@known_option
@click.option("--forget", metavar="FILE", help="The answers to these arms, one id a line, are known no more.")
@done_option
def command(db: str, name: str | None, known: str | None, form: str, **options: Any) -> None:
    """Change a campaign, also while others work on it.

    What is not given stays. Others go on by the new settings from their next call on; a finished campaign goes on where
    the change leaves something to do. With another threshold, policy, prior, rule or number of pulls an arm, all arms
    are gone through, which takes a while where there are very many, and holds nobody up.

    \b
    Examples:
      cutline campaign change --db labels.db --budget 6000
      cutline campaign change --db labels.db --threshold 0.8 --target-errors none
      cutline campaign change --db labels.db --add-arms new.txt --retire-arms old.txt
      cutline campaign change --db labels.db --question "Is it a bird?" --labels "not a bird,bird"
      cutline campaign change --db labels.db --workers weighed --known gold.csv
      cutline campaign change --db labels.db --exclude bob --readmit eve
    """
    from cutline.campaign.files.arms_file import ArmsFile, read_arms
    from cutline.campaign.files.exporting import change_in_words, change_rows
    from cutline.campaign.resume import open_one

    given = {key: value for key, value in options.items() if value not in (None, ())}
    workers = ("exclude", "readmit")
    changes: Any = {
        key: value[0] if isinstance(value, tuple) and key not in workers else value for key, value in given.items()
    }
    files = {key: read_arms(options[key]) for key in ("add", "retire", "bring_back", "forget") if key in given}
    changes |= {key: file.payloads for key, file in files.items()}
    told = files.get("add", ArmsFile({}, {})).answers(answers(known))
    if told is not None:
        changes["known"] = told
    if not changes:
        raise InvalidInputError("nothing to change is given, such as --budget 6000")
    with open_one(db, name) as campaign:
        rows = list(change_rows(campaign.change(**changes)))
        called = campaign.name
    what = "; ".join(map(change_in_words, rows))
    say_done(f"campaign {called!r}: {what or 'nothing is new'}", {"changed": rows}, form)
