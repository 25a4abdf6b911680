"""How the page to label on is set up: its words, as far as a campaign has none of its own, and the media."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutline.campaign.settings import Settings
from cutline.campaign.wording import Wording
from cutline.checks import check_positive
from cutline.errors import InvalidInputError


@dataclass(frozen=True)
class Labelling:
    """The words for campaigns that have none of their own, the folder of media and the time for an item.

    ``media`` is the folder whose pictures and sounds may be shown, ``lease`` the seconds that a person has for an item.
    Raises InvalidInputError unless the folder is there, if one is given.
    """

    wording: Wording = field(default_factory=Wording)
    media: Path | None = None
    lease: float = 600.0

    def __post_init__(self) -> None:
        if self.media is not None and not self.media.is_dir():
            raise InvalidInputError(f"media {str(self.media)!r} is not a folder")
        check_positive("lease", self.lease)

    def wording_of(self, settings: Settings) -> Wording:
        """Return the words of a campaign; what it has none for is as for all."""
        return Wording(
            settings.question or self.wording.question,
            settings.labels or self.wording.labels,
            settings.keys or self.wording.keys,
        )


def labelling_of(media: str | None = None, **words: Any) -> Labelling:
    """Return the set-up with this folder of media, and of ``words`` those that are not None; see Wording."""
    given = {name: value for name, value in words.items() if value is not None}
    return Labelling(Wording(**given), None if media is None else Path(media))
