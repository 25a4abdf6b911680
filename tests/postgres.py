"""A PostgreSQL server to throw away: in a temporary folder, reached through a socket there, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import psycopg

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


@contextlib.contextmanager
def schema(server: str, name: str) -> Iterator[str]:
    """Make an empty schema, yield the url that leads to it, and drop it in the end."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        try:
            yield f"{server}{'&' if '?' in server else '?'}options={urllib.parse.quote(f'-csearch_path={name}')}"
        finally:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


def empty(url: str) -> None:
    """Delete what campaigns have written to a schema: the next test has its tables in a fifth of the time."""
    with psycopg.connect(url, autocommit=True, client_encoding="utf8") as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
            "AND tablename NOT IN ('cutline_version', 'cutline_clock')"
        ).fetchall()
        if sum(connection.execute(f"DELETE FROM {name}").rowcount for (name,) in names) > 1000:
            connection.execute("VACUUM")


def _somebody() -> str:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise FileNotFoundError("no user postgres or nobody to run PostgreSQL as")
