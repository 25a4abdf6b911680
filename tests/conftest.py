"""What all tests share: hypothesis profiles, marks that fixtures imply, signals, and processes that end in time."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import begun
import surroundings

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each of the processes that tests start compiles all its modules
sys.dont_write_bytecode = False
# in pytests that tests start; to load the plugin of schemathesis takes a second, and that of pytest-asyncio a tenth
os.environ["PYTEST_ADDOPTS"] = "-p no:schemathesis -p no:asyncio -p no:timeout"

settings.register_profile("compiled", derandomize=True, deadline=None, database=None, max_examples=100)
settings.register_profile("uncompiled", settings.get_profile("compiled"), max_examples=10)
settings.register_profile("quick", settings.get_profile("compiled"), max_examples=20)
settings.register_profile("nightly", derandomize=False, deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("uncompiled" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "compiled")


MARK_OF_FIXTURE = {"start_process": "process", "workers": "process", "postgres_server": "postgres"}
"""A test that uses such a fixture, directly or through others, has this mark."""


gc.disable()  # a tenth of the processor time of collecting tests went into searching them for garbage


def pytest_collection_finish() -> None:
    gc.freeze()  # nor is there any among them later
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    for item in items:
        for fixture in MARK_OF_FIXTURE.keys() & getattr(item, "fixturenames", ()):
            item.add_marker(MARK_OF_FIXTURE[fixture])


@pytest.fixture(scope="session")
def begun_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with commands of Cutline that begin at once."""
    with begun.commands(tmp_path_factory.mktemp("begun")) as folder:
        yield folder


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Let the signals that stop a program work as usual during the test."""
    with surroundings.default_signals():
        yield


@pytest.fixture
def start_process() -> Iterator[Callable[..., "subprocess.Popen[Any]"]]:
    """Start a process that does not outlive the test and can be stopped by signals."""
    with surroundings.processes() as start:
        yield start
