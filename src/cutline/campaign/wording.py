"""The words of the page to label on: what it asks, what stands on its two buttons, and their keys."""

from dataclasses import dataclass
from typing import Any

from cutline.campaign.checks import check_text
from cutline.errors import InvalidInputError

SKIP, UNDO = "s", "u"
"""The keys that are taken."""

LONGEST_QUESTION, LONGEST_LABEL = 500, 100
"""So many letters they may have."""


@dataclass(frozen=True)
class Wording:
    """The question, and labels and keys of its two answers, of which the first is the reward 0 and the second 1.

    Raises InvalidInputError for a question, labels or keys that cannot work.
    """

    question: str = "Yes or no?"
    labels: tuple[str, str] = ("no", "yes")
    keys: tuple[str, str] = ("n", "y")

    def __post_init__(self) -> None:
        check_question(self.question)
        check_labels(self.labels)
        check_keys(self.keys)

    def word(self, reward: float) -> str:
        """Return the label of a reward, the number itself if it is neither 0 nor 1."""
        return self.labels[int(reward)] if reward in (0.0, 1.0) else f"{reward:g}"


def check_question(question: Any) -> str:
    """Return a question; raise InvalidInputError unless it is text of 1 to 500 letters."""
    if not isinstance(question, str) or not question.strip() or len(question) > LONGEST_QUESTION:
        raise InvalidInputError(f"question is {question!r}; it must be text of 1 to {LONGEST_QUESTION} letters")
    return check_text("question", question)


def check_labels(labels: Any) -> tuple[str, str]:
    """Return the words on the two buttons; raise InvalidInputError unless there are two, and they differ."""
    first, second = _pair("labels", labels, f"two different words of 1 to {LONGEST_LABEL} letters, as in 'no,yes'")
    for label in (first, second):
        if not label.strip() or len(label) > LONGEST_LABEL:
            raise InvalidInputError(f"label {label!r}: it must have 1 to {LONGEST_LABEL} letters")
        check_text("label", label)
    return first, second


def check_keys(keys: Any) -> tuple[str, str]:
    """Return the keys of the two buttons; raise InvalidInputError unless they are two letters that are free."""
    first, second = _pair("keys", keys, "two different letters, as in 'n,y'")
    for key in (first, second):
        if len(key) != 1 or key.isspace() or not key.isprintable():
            raise InvalidInputError(f"key {key!r}: it must be one letter, as in 'n,y'")
        if key.lower() in (SKIP, UNDO):
            raise InvalidInputError(f"key {key!r} is taken: {SKIP} is the key to skip, {UNDO} the one to undo")
    return first, second


def _pair(what: str, given: Any, wanted: str) -> tuple[str, str]:
    """Return two texts that differ, also without regard to capitals."""
    are_texts = isinstance(given, (tuple, list)) and all(isinstance(text, str) for text in given)
    if not are_texts or len(given) != 2 or given[0].lower() == given[1].lower():
        shown = ",".join(given) if are_texts else given
        raise InvalidInputError(f"{what} is {shown!r}; it must be {wanted}")
    return given[0], given[1]
