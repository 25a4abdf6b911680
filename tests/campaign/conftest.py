"""The databases that the campaign tests run on."""

import itertools
import os
from collections.abc import Iterator

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
    with postgres.schema(postgres_server, f"cutline_{os.getpid()}_{next(_schemas)}") as url:
        yield url


@pytest.fixture(scope="session")
def _postgresql_tables(postgres_server: str) -> Iterator[str]:
    with postgres.schema(postgres_server, f"cutline_{os.getpid()}") as url:
        yield url


@pytest.fixture
def postgresql_without_campaigns(_postgresql_tables: str) -> Iterator[str]:
    """The url of a PostgreSQL schema that holds no campaigns; the tables of a test before this one may be there."""
    yield _postgresql_tables
    postgres.empty(_postgresql_tables)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if any(_MISSING in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())):
        terminalreporter.write_line(
            f"Campaigns were not tested on PostgreSQL: there is none here. Install it, or set {postgres.WHERE}.",
            yellow=True,
        )
