"""Settings that all tests share: hypothesis draws the same examples every time, fewer where nothing is compiled."""

import os

import pytest
from hypothesis import settings

settings.register_profile("compiled", derandomize=True, deadline=None, database=None, max_examples=100)
settings.register_profile("uncompiled", settings.get_profile("compiled"), max_examples=10)
settings.load_profile("uncompiled" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "compiled")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "kernel: runs once more with NUMBA_DISABLE_JIT=1")
