"""How the page to label on is set up: what it asks, the words on its two buttons, their keys, and the media."""

from dataclasses import dataclass, replace
from pathlib import Path

from cutline.checks import check_positive
from cutline.errors import InvalidInputError

SKIP, UNDO = "s", "u"
"""The keys that are taken."""


@dataclass(frozen=True)
class Labelling:
    """The question, the words and the keys of its answers, of which the first is the reward 0 and the second 1.

    ``media`` is the folder whose pictures and sounds may be shown, ``lease`` the seconds that a person has for an item.
    Raises InvalidInputError unless there are two different words, two different keys of one letter that are free, and
    the folder, if one is given.
    """

    question: str = "Yes or no?"
    words: tuple[str, ...] = ("no", "yes")
    keys: tuple[str, ...] = ("n", "y")
    media: Path | None = None
    lease: float = 600.0

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise InvalidInputError("the question is empty; leave it out, or ask something")
        if len(set(self.words)) != 2 or len(self.words) != 2 or not all(self.words):
            raise InvalidInputError(f"labels {','.join(self.words)!r}: give two different words, as in 'no,yes'")
        keys = {key.lower() for key in self.keys}
        if len(keys) != 2 or len(self.keys) != 2 or any(len(key) != 1 for key in self.keys):
            raise InvalidInputError(f"keys {','.join(self.keys)!r}: give two different letters, as in 'n,y'")
        if {SKIP, UNDO} & keys:
            raise InvalidInputError(f"keys {','.join(self.keys)!r}: {SKIP} is the key to skip, {UNDO} the one to undo")
        if self.media is not None and not self.media.is_dir():
            raise InvalidInputError(f"media {str(self.media)!r} is not a folder")
        check_positive("lease", self.lease)

    def word(self, reward: float) -> str:
        """Return the word of a reward, the number itself if it is neither 0 nor 1."""
        return self.words[int(reward)] if reward in (0.0, 1.0) else f"{reward:g}"


def labelling_of(
    question: str | None = None, labels: str | None = None, keys: str | None = None, media: str | None = None
) -> Labelling:
    """Return the set-up that texts describe, words and keys with a comma between them; None is the default."""
    given = {
        "question": question,
        "words": None if labels is None else _between_commas(labels),
        "keys": None if keys is None else _between_commas(keys),
        "media": None if media is None else Path(media),
    }
    return replace(Labelling(), **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def _between_commas(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))
