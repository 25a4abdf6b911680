"""What is done with the campaigns of a server as a whole: list them, delete one, copy the database."""

import os
from itertools import chain

from cutline.campaign.database.connecting.address import Url
from cutline.campaign.remote.answers import status_of
from cutline.campaign.remote.connection import Connection
from cutline.campaign.results import Status
from cutline.files import require_writable, whole_file


def remote_campaigns(url: Url, token: str | None) -> list[Status]:
    """Return the status of every campaign on a server, by name."""
    return [status_of(row) for row in Connection(url, token).get("campaigns")]


def remote_delete(url: Url, token: str | None, name: str) -> None:
    """Delete a campaign on a server."""
    Connection(url, token).delete("campaigns", campaign=name)


def remote_backup(url: Url, token: str | None, out: str | os.PathLike[str]) -> int:
    """Copy the whole database of a server to a file; see ``campaign.backup``."""
    require_writable(out, database=True)
    pieces = Connection(url, token).pieces("backup")
    first = next(pieces)  # here it is refused, if it is
    with whole_file(out, "wb", database=True) as file:
        return sum(map(file.write, chain([first], pieces)))
