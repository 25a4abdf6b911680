"""Write a file whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cutline.errors import InvalidInputError


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing; it appears under its name when the block ends well, and not before.

    ``mode`` is "w" (UTF-8, line ends as written) or "wb". Raises InvalidInputError where it cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    except OSError as error:
        raise InvalidInputError(f"cannot write {target}: {error.strerror}") from None
    temporary = Path(name)
    try:
        text = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
        with os.fdopen(descriptor, mode, **text) as file:  # type: ignore[call-overload]
            yield file
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        raise InvalidInputError(f"cannot write {target}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
