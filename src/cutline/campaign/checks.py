"""Checks of what a campaign is given: policy, prior, names, ids, rewards. Each returns what it was given, converted."""

from collections.abc import Collection, Mapping
from typing import Any

from cutline.checks import check_positive, finite
from cutline.errors import InvalidInputError
from cutline.policies import Policy, check_usable_on_data, parse
from cutline.text import quoted

DECIDE = ("likelier", "mean")
"""The rules by which arms can be decided; see ``Options``."""

WORKERS = ("alike", "weighed")
"""How the results of workers can count; see ``Options``."""


def check_policy(policy: Policy | str) -> Policy:
    """Return the policy; raise InvalidInputError, with the reason, for one that cannot run a live campaign."""
    chosen = parse(policy) if isinstance(policy, str) else policy
    if not isinstance(chosen, Policy):
        raise InvalidInputError(f"policy is {policy!r}; it must be a policy such as LSA() or its name")
    return check_usable_on_data(chosen)


def check_prior(prior: Any) -> tuple[float, float]:
    """Return the a and b of a Beta; raise InvalidInputError unless they are two numbers above 0."""
    try:
        a, b = prior
    except (TypeError, ValueError):
        raise InvalidInputError(f"prior is {prior!r}; it must be two numbers above 0, the a and b of a Beta") from None
    return check_positive("prior a", a), check_positive("prior b", b)


def check_decide(rule: Any) -> str:
    """Return a rule of decision; raise InvalidInputError unless it is one of those there are."""
    if rule not in DECIDE:
        raise InvalidInputError(f"decide is {rule!r}; it must be {' or '.join(DECIDE)}")
    return str(rule)


def check_workers(workers: Any) -> str:
    """Return how workers count; raise InvalidInputError unless it is one of ``WORKERS``."""
    if workers not in WORKERS:
        raise InvalidInputError(f"workers is {workers!r}; it must be one of {', '.join(WORKERS)}")
    return str(workers)


def check_excluded(excluded: Any) -> tuple[str, ...]:
    """Return names of workers, each once, in order; raise InvalidInputError for one text, and for a bad name."""
    if isinstance(excluded, (str, bytes)):
        raise InvalidInputError(f"excluded is {excluded!r}; it must be a list of workers")
    return tuple(sorted({check_text("excluded worker", name) for name in excluded or ()}))


def check_known_rate(rate: Any) -> float:
    """Return the share of pulls of arms whose answer is known; raise InvalidInputError unless 0 <= rate < 1."""
    number = finite(rate)
    if not 0.0 <= number < 1.0:
        raise InvalidInputError(f"known_rate is {rate!r}; it must be a share of the pulls, from 0 to below 1")
    return number


def check_known(known: Mapping[str, Any] | None) -> dict[str, bool]:
    """Return answers by arm; raise InvalidInputError for one that is not yes or no."""
    answers = dict(known or {})
    for arm, answer in answers.items():
        if answer not in (0, 1):
            raise InvalidInputError(f"the known answer of {quoted(arm)} is {answer!r}; it must be 0 or 1")
    return {arm: answer == 1 for arm, answer in answers.items()}


def check_target(target: Any) -> float:
    """Return a number of errors; raise InvalidInputError unless it is a finite number, 0 or above."""
    number = finite(target)
    if not number >= 0:
        raise InvalidInputError(f"target_errors is {target!r}; it must be a number of errors, 0 or above")
    return number


def check_name(name: Any) -> str:
    """Return a campaign's name; raise InvalidInputError unless it is text of 1 to 200 characters on one line."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
        raise InvalidInputError(f"campaign name {name!r}: it must be 1 to 200 characters of text, on one line")
    return name


def check_text(what: str, value: Any) -> str:
    """Return an id; raise InvalidInputError unless it is text that every database keeps as it stands."""
    if not isinstance(value, str) or not value:
        raise InvalidInputError(f"{what} {value!r} is not an id; it must be text of at least one character")
    if "\0" in value or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise InvalidInputError(f"{what} {value!r} holds a NUL or half a character, which no database keeps")
    return value


def check_confidence(confidence: Any) -> float:
    """Return the confidence of an interval; raise InvalidInputError unless it is a number between 0 and 1."""
    if isinstance(confidence, (bool, str)) or not 0.0 < confidence < 1.0:
        raise InvalidInputError(f"confidence is {confidence!r}; it must be a number between 0 and 1")
    return float(confidence)


def check_note(note: Any) -> str | None:
    """Return a note, None for an empty one; raise InvalidInputError unless it is text that every database keeps."""
    if note is None or note == "":
        return None
    if not isinstance(note, str):
        raise InvalidInputError(f"note {note!r} is not text; write other things as text, such as JSON")
    return check_text("note", note)


def check_reward(reward: Any) -> float:
    """Return a reward; raise InvalidInputError unless it is a boolean or a number in [0, 1]."""
    try:
        value = -1.0 if isinstance(reward, (str, bytes)) else float(reward)
    except (TypeError, ValueError, OverflowError):
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(f"reward {reward!r} is not a number in [0, 1]")
    return value


def read_reward(text: str) -> float:
    """Return a reward written as a number in [0, 1]; raise InvalidInputError for any other text."""
    plain = text.strip()
    try:
        return check_reward(float(plain) if plain.isascii() and "_" not in plain else -1.0)
    except ValueError:
        raise InvalidInputError(f"{quoted(text)} is not a reward; it must be a number in [0, 1]") from None


def check_weighing(workers: str, known: str | None, exclude: Collection[str]) -> bool:
    """Return whether answers are weighed; raise InvalidInputError for another word, and for what only they can use."""
    if check_workers(workers) == "alike" and (known is not None or exclude):
        raise InvalidInputError(
            "known answers and workers to exclude are for workers that are weighed: give --workers weighed, or --rates"
        )
    return workers == "weighed"
