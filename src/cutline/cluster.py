"""A Dask cluster as an executor: connecting to one, and how much work an executor does at a time."""

import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from cutline.errors import InvalidInputError, MissingDependencyError

_PATIENCE = 5.0


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor whose work is done on the Dask cluster with its scheduler at ``address``: tcp://host:8786.

    Raises MissingDependencyError where dask.distributed is not installed, and InvalidInputError if no scheduler
    answers within 5 seconds, if it has no workers, or if a worker has not this version of Cutline.
    """
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise MissingDependencyError("a Dask cluster needs dask.distributed: pip install 'cutline[dask]'") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as e:
        print(type(e), e)
        raise
    with client:
        yield client.get_executor(pure=False)
