"""Rows of a file are sent to a server, which records all of them or none."""

from typing import IO, Any

from cutline.campaign.remote.connection import Connection


def rows_sent(connection: Connection, rows: IO[bytes], **which: Any) -> dict[str, Any]:
    """Return what the server says of an import; raise what was wrong with it.

    A server that is at work on it for long begins its answer meanwhile, so that what is wrong then stands in it.
    """
    with rows:
        said: dict[str, Any] = connection.post_file("import", rows, **which)
    if "problem" in said:
        raise connection.error_of(said["problem"])
    return said
