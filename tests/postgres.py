"""A PostgreSQL server to throw away: in a temporary folder, reached through a socket there, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

WHERE = "CUTLINE_TEST_POSTGRES"
"""An environment variable: the url of a PostgreSQL database to use instead."""


def binaries() -> Path | None:
    """The folder of the newest PostgreSQL on this machine, None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


@contextlib.contextmanager
def server(durable: bool = False) -> Iterator[str]:
    """Start a server and yield the url of its database; ``durable`` False lets it skip waiting for the disk."""
    folder = binaries()
    if folder is None:
        raise FileNotFoundError(
            "no PostgreSQL on this machine: initdb is neither under /usr/lib/postgresql nor on PATH"
        )
    with tempfile.TemporaryDirectory(prefix="cutline-pg-") as name:
        home = Path(name)
        user = None
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            user = _somebody()
            shutil.chown(home, user)
        data = home / "data"
        options = f"-k {home} -c listen_addresses='' -c max_connections=200"
        if not durable:
            options += " -c fsync=off -c full_page_writes=off"
        run: list[list[str | Path]] = [
            [folder / "initdb", "-D", data, "-U", "cutline", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            [folder / "pg_ctl", "-D", data, "-w", "-l", home / "log", "-o", options, "start"],
        ]
        for command in run:
            subprocess.run(command, user=user, cwd=home, check=True, capture_output=True)
        try:
            yield f"postgresql://cutline@/postgres?host={home}"
        finally:
            stop: list[str | Path] = [folder / "pg_ctl", "-D", data, "-m", "immediate", "stop"]
            subprocess.run(stop, user=user, cwd=home, check=True, capture_output=True)


def _somebody() -> str:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise FileNotFoundError("no user postgres or nobody to run PostgreSQL as")
