"""Rows of a file are sent to a server, which records all of them or none."""

import os
from typing import IO, Any

from cutline.campaign.remote.connection import Connection
from cutline.progress import Progress, progress_bar


def rows_sent(
    connection: Connection, rows: IO[bytes], count: int, progress: Progress | bool | None, **which: Any
) -> dict[str, Any]:
    """Return what the server says of an import of so many results; raise what was wrong with it.

    A server that is at work on it for long begins its answer meanwhile, so that what is wrong then stands in it.
    """
    with rows, progress_bar("sending", count, progress) as advance:
        said: dict[str, Any] = connection.post_file("import", _Watched(rows, count, advance), **which)
    if "problem" in said:
        raise connection.error_of(said["problem"])
    return said


class _Watched:
    """A file that tells how many of ``count`` rows have been read of it, as if all were equally long."""

    def __init__(self, file: IO[bytes], count: int, advance: Progress) -> None:
        self._file, self._count, self._advance = file, count, advance
        self._size = max(file.seek(0, os.SEEK_END), 1)
        self._told = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        piece = self._file.read(size)
        so_far = self._count * self._file.tell() // self._size
        if so_far > self._told:  # it is not, while the file is sent again
            self._advance(so_far - self._told)
            self._told = so_far
        return piece

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)
