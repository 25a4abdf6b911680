"""What is shown of an arm: text, pictures, sound, or several fields, as its payload says.

A payload that is text is shown as it stands, unless it is the address of a picture or of a sound, or the name of a file
of the folder of media. An object is shown field by field, a list one after the other. An arm without a payload is shown
by its id, which may be such an address or name, too.
"""

import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

Kind = Literal["text", "picture", "sound"]

_KINDS: dict[str, Kind] = {"image": "picture", "audio": "sound"}

_LONG = 600
"""From so many letters on a text is set in small type."""


@dataclass(frozen=True)
class Part:
    """A part of an item: what it is called, if it is a field, and a text, or the address or file of a picture or sound.

    ``is_file`` says that it is a file of the folder of media.
    """

    kind: Kind
    value: str
    name: str | None = None
    is_file: bool = False

    @property
    def is_long(self) -> bool:
        """Whether it is so much text that it is set in small type."""
        return len(self.value) > _LONG


class Media:
    """The folder whose files may be shown, or none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder.resolve()

    def find(self, name: str) -> tuple[Path, str] | None:
        """Return a picture or a sound in the folder and its media type; None for any other name.

        Links and ``..`` are followed, and what they lead to must be in the folder.
        """
        kind = _type(name)
        if self._folder is None or kind is None or "\0" in name:
            return None
        try:
            path = (self._folder / name).resolve()
            inside = path.is_relative_to(self._folder) and path.is_file()
        except (OSError, RuntimeError, ValueError):  # a name that is too long, a circle of links, half a character
            return None
        return (path, kind) if inside else None


def parts(arm: str, payload: Any, media: Media) -> list[Part]:
    """Return what is shown of an arm."""
    if payload is None:
        return [_part(arm, None, media)]
    if isinstance(payload, dict) and payload:
        return [_part(value, str(name), media) for name, value in payload.items()]
    if isinstance(payload, list) and payload:
        return [_part(value, None, media) for value in payload]
    return [_part(payload, None, media)]


def _part(value: Any, name: str | None, media: Media) -> Part:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    if media.find(text) is not None:
        return Part(_kind(text) or "text", text, name, is_file=True)
    kind = _kind_of_address(text)
    return Part("text" if kind is None else kind, text, name)


def _kind_of_address(text: str) -> Kind | None:
    """Return what a web address or a data address is of, None for another text."""
    try:
        address = urlsplit(text)
    except ValueError:
        return None
    if address.scheme == "data":
        return _KINDS.get(address.path.split("/")[0])
    return _kind(address.path) if address.scheme in ("http", "https") and " " not in text else None


def _kind(name: str) -> Kind | None:
    found = _type(name)
    return None if found is None else _KINDS[found.split("/")[0]]


def _type(name: str) -> str | None:
    """Return the media type of a picture or a sound by the end of its name, None for anything else."""
    found = mimetypes.guess_type(PurePosixPath(name).name)[0] or ""
    return found if found.split("/")[0] in _KINDS else None
