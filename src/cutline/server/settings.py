"""How a server is set up."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field

from cutline.campaign.database.connecting.address import Url
from cutline.errors import InvalidInputError
from cutline.server.labelling import Labelling

HOST, PORT = "127.0.0.1", 8000
"""Where a server listens unless it is told otherwise."""

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
        path = self.root_path
        if path and (not path.startswith("/") or path.endswith("/") or not path.isprintable()):
            raise InvalidInputError(f"root path {path!r}: it must begin with / and not end with one, as in /labels")

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


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches a server that listens at this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
