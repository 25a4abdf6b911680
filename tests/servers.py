"""A server that listens on loopback while a test goes on, in a thread of the process of the tests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from cutline.server.app import create_app
from cutline.server.serving import listen
from cutline.server.settings import ServerSettings


@contextmanager
def serving(settings: ServerSettings, port: int = 0) -> Iterator[str]:
    """Serve until the block ends; yield the address, such as http://127.0.0.1:49152."""
    config = uvicorn.Config(create_app(settings), log_level="warning", proxy_headers=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with listen("127.0.0.1", port) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
