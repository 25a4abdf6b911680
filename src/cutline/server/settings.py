"""How a server is set up."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from cutline.campaign.database.connecting.address import Url
from cutline.errors import InvalidInputError
from cutline.server.labelling import Labelling
from cutline.text import quoted

HOST, PORT = "127.0.0.1", 8000
"""Where a server listens unless it is told otherwise."""

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The names that a header can have: a token of RFC 9110, 5.6.2."""

_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._~!$&'()*+,;=:@-]+)*")
"""Paths that stand in a URL as they are, and mean themselves (RFC 3986, 3.3)."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class ServerSettings:
    """What a server serves, and to whom.

    ``db`` is the database of its campaigns. ``only_here``: it listens on loopback, so that no token is needed while
    there is none. ``root_path`` is what a proxy has put before its paths, such as ``/labels``. ``worker_header`` is the
    header in which a proxy whose address is among ``trusted`` says who has logged in. ``labelling`` is how
    the page to label on is set up. ``clock`` is for tests, as in ``Campaign.create``.
    """

    db: Url
    only_here: bool = True
    root_path: str = ""
    worker_header: str | None = None
    trusted: tuple[Network, ...] = ()
    clock: Callable[[], float] | None = None
    labelling: Labelling = field(default_factory=Labelling)

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.root_path):
            raise InvalidInputError(
                f"root path {quoted(self.root_path)}: it must begin with / and not end with one, as in /labels, and be "
                "what a URL can have there"
            )
        if self.worker_header is not None and not _HEADER.fullmatch(self.worker_header):
            raise InvalidInputError(
                f"worker header {quoted(self.worker_header)}: no header has that name; give one such as X-Remote-User"
            )

    def trusts(self, address: str | None) -> bool:
        """Tell whether a peer is a proxy that is trusted."""
        return address is not None and is_in(address, self.trusted)


def is_in(address: str, networks: tuple[Network, ...]) -> bool:
    """Tell whether an address is in one of the networks; what is no address is in none."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(known in network for network in networks)


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read addresses and networks with commas between them; raise InvalidInputError for anything else."""
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InvalidInputError(
            f"{text!r} is no list of addresses: {error}; write 127.0.0.1 or 10.0.0.0/8, with commas between several"
        ) from None


@lru_cache(1000)
def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches a server that listens at this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
