"""What all tests share: hypothesis profiles, signals at their defaults, and processes that end with their test."""

import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings

import surroundings

settings.register_profile("compiled", derandomize=True, deadline=None, database=None, max_examples=100)
settings.register_profile("uncompiled", settings.get_profile("compiled"), max_examples=10)
settings.load_profile("uncompiled" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "compiled")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kernel: runs once more with NUMBA_DISABLE_JIT=1")


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
