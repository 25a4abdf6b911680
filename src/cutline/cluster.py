"""A Dask cluster as an executor."""

import asyncio
import importlib
import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any

from cutline.errors import InvalidInputError, MissingDependencyError

_PATIENCE = 5.0


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor that works on the Dask cluster whose scheduler is at ``address``, as in tcp://10.0.0.1:8786.

    Raises MissingDependencyError where dask.distributed is not installed, and InvalidInputError if no scheduler
    answers within 5 seconds, if it has no workers, if a worker has not this version of Cutline, and for a cluster
    that is lost before the work is done.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingDependencyError("a Dask cluster needs dask.distributed: pip install 'cutline[dask]'") from None
    _require_scheduler(address, distributed)
    lost = (CancelledError, asyncio.CancelledError, distributed.scheduler.KilledWorker)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it would log what is raised here in one line
    # and it would warn of slices of arms, and advise to send them out beforehand: each goes to one worker, once
    with distributed.dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        try:
            _require_workers(address, client)
            yield client.get_executor(pure=False)
        except lost as error:
            reason = str(error) or "its scheduler is gone"
            raise InvalidInputError(f"the cluster at {address} was lost before the work was done: {reason}") from None
        finally:
            with suppress(Exception):  # where the scheduler is gone there is nobody to say goodbye to
                client.close(timeout=_PATIENCE)


def _require_scheduler(address: str, distributed: Any) -> None:
    async def ask() -> str:
        arguments = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, timeout=_PATIENCE, connection_args=arguments) as server:
            return str((await server.identity())["type"])

    try:
        kind = asyncio.run(asyncio.wait_for(ask(), _PATIENCE))
    except Exception as error:  # of a dozen kinds: a bad port, an unknown scheme, no such host, not Dask, no TLS
        reason = str(error).splitlines()[0] if str(error) else f"no answer within {_PATIENCE:g} s"
        raise InvalidInputError(
            f"no Dask scheduler at {address!r}, which should be such as tcp://127.0.0.1:8786: {reason}"
        ) from None
    if kind != "Scheduler":
        raise InvalidInputError(f"no Dask scheduler at {address!r}: a {kind.lower()} answers there")


def _require_workers(address: str, client: Any) -> None:
    versions = client.run(version, "cutline", on_error="return")
    if not versions:
        raise InvalidInputError(f"the cluster at {address} has no workers; start some: dask worker {address}")
    for worker, found in versions.items():
        if found != version("cutline"):
            has = f"has Cutline {found}" if isinstance(found, str) else "has no Cutline"
            raise InvalidInputError(f"worker {worker} {has}; install {version('cutline')} there, as it is here")
