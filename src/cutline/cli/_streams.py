"""The standard streams of a command: UTF-8 as every file is, and nothing that a terminal takes for an order."""

import io
import sys
from contextlib import suppress

import click

from cutline.text import printable


def say(text: str) -> None:
    """Say something on standard error, on one line; control characters are escaped.

    Where standard error takes nothing, nothing is said; what was to be done is done all the same.
    """
    with suppress(OSError):
        click.echo(printable(text), err=True)


def write_utf8() -> None:
    """Have UTF-8 written whatever the locale is, so that no id is lost between two commands.

    A terminal keeps its encoding, and what it cannot show is escaped.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="backslashreplace")
            else:
                stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdout else "backslashreplace")
