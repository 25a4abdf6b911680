"""Files that are sent with a form, read as the command line reads files."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from fastapi import UploadFile

from cutline.errors import InvalidInputError

T = TypeVar("T")

_LONGEST_ENDING = 10


def read_upload(sent: UploadFile, read: Callable[[str], T]) -> T:
    """Return what ``read`` makes of a file of the same ending; its InvalidInputError calls it "the file"."""
    ending = PurePath(sent.filename or "").suffix
    kept = ending if ending[1:].isalnum() and ending.isascii() and len(ending) <= _LONGEST_ENDING else ""
    with tempfile.NamedTemporaryFile(suffix=kept) as file:
        shutil.copyfileobj(sent.file, file)
        file.flush()
        try:
            return read(file.name)
        except InvalidInputError as error:
            raise InvalidInputError(str(error).replace(file.name, "the file")) from None
