"""The standard streams of a command: UTF-8 as every file is, and nothing that a terminal takes for an order."""

import errno
import io
import sys
from contextlib import suppress

import click

from cutline.errors import InvalidInputError
from cutline.text import printable


def say(text: str) -> None:
    """Say something on standard error, on one line; control characters are escaped.

    Where standard error takes nothing, nothing is said; what was to be done is done all the same.
    """
    with suppress(OSError):
        click.echo(printable(text), err=True)


class _Closed(io.TextIOBase):
    """Standard output where it is closed: for Python it is None then, and what is printed is gone without a word."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


def require_output(lost: str = "nothing was done, since nobody would see the result") -> None:
    """Raise InvalidInputError, before work whose result is to be printed, if standard output is closed."""
    if isinstance(sys.stdout, _Closed):
        raise InvalidInputError(f"standard output is closed; {lost}")


def write_utf8() -> None:
    """Have UTF-8 written whatever the locale is, so that no id is lost between two commands.

    A terminal keeps its encoding, and what it cannot show is escaped. Where standard output is closed, writing to it
    is an error.
    """
    if sys.stdout is None:
        sys.stdout = _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="backslashreplace")
            else:
                stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdout else "backslashreplace")
