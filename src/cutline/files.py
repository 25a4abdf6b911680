"""Write a file whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from cutline.errors import InvalidInputError

_SQLITE = b"SQLite format 3\0"
"""How the file of a database begins."""


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w", *, database: bool = False) -> Iterator[IO[Any]]:
    """Open a file for writing; it appears under its name when the block ends well, and not before.

    Folders that are missing are made, and removed again if the block does not end well.
    ``mode`` is "w" (UTF-8, line ends as written) or "wb". A device or a pipe is written as it stands. Raises
    InvalidInputError where it cannot be written, or would be written over a database, unless it is to be a ``database``
    itself.
    """
    target = Path(path)
    encoding, newline = ("utf-8", "") if mode == "w" else (None, None)
    _refuse_what_is_there(target, database)
    if _is_device(target):
        try:
            with target.open(mode, encoding=encoding, newline=newline) as file:
                yield file
        except OSError as error:
            raise InvalidInputError(f"cannot write {target}: {error.strerror}") from error
        return
    try:
        with folder_of(target):
            descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
            temporary = Path(name)
            try:
                with os.fdopen(descriptor, mode, encoding=encoding, newline=newline) as file:
                    yield file
                umask = os.umask(0)
                os.umask(umask)
                temporary.chmod(0o666 & ~umask)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInputError(f"cannot write {target}: {error.strerror}") from error


def require_writable(path: str | os.PathLike[str], *, database: bool = False) -> None:
    """Raise InvalidInputError if ``whole_file`` could not write this file; leave nothing behind either way.

    For long work, to be refused before it starts.
    """
    target = Path(path)
    _refuse_what_is_there(target, database)
    if _is_device(target):
        return
    try:
        with folder_of(target), tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InvalidInputError(f"cannot write {target}: {error.strerror}") from None


@contextmanager
def folder_of(target: Path) -> Iterator[None]:
    """Make the folder of a file if it is missing; what is made and still empty when the block ends is removed."""
    made: list[Path] = []
    try:
        made = [folder for folder in target.parents if not folder.exists()]
        _make_folder(target.parent)
        yield
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _refuse_what_is_there(target: Path, database: bool) -> None:
    if target.is_dir():
        raise InvalidInputError(f"cannot write {target}: it is a folder; give the name of a file")
    if database:
        return
    for ending in ("", "-wal", "-shm", "-journal"):
        of = target.with_name(target.name.removesuffix(ending)) if target.name != ending else target
        if _is_database(of):
            what = "a database" if of == target else f"of the database {of}"
            raise InvalidInputError(f"cannot write {target}: it is {what}; give another name, or remove it first")


def _is_database(path: Path) -> bool:
    """Tell whether a file is an SQLite database; one that cannot be read is none."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
