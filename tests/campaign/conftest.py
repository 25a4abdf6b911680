"""The databases that the campaign tests run on."""

import itertools
import os
import urllib.parse
from collections.abc import Iterator

import psycopg
import pytest

import postgres

_MISSING = "no PostgreSQL on this machine"
_schemas = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The url of a PostgreSQL database for the whole session."""
    given = os.environ.get(postgres.WHERE)
    if given:
        yield given
    elif postgres.binaries() is None and os.environ.get("CUTLINE_NOTHING_SKIPPED") != "1":
        pytest.skip(_MISSING)
    else:
        for name in [name for name in os.environ if name.startswith("PG")]:
            del os.environ[name]  # they speak of another server than the one that is started here
        with postgres.server() as url:
            yield url


@pytest.fixture
def postgresql(postgres_server: str) -> Iterator[str]:
    """The url of an empty PostgreSQL schema."""
    schema = f"cutline_{os.getpid()}_{next(_schemas)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        separator = "&" if "?" in postgres_server else "?"
        yield f"{postgres_server}{separator}options={urllib.parse.quote(f'-csearch_path={schema}')}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if any(_MISSING in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_line(
            f"Campaigns were not tested on PostgreSQL: there is none here. Install it, or set {postgres.WHERE}.",
            yellow=True,
        )
