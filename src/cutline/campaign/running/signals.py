"""The signals by which a user asks for long work to stop."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


@contextmanager
def first_signal_calls(stop: Callable[[signal.Signals], object]) -> Iterator[None]:
    """Have the first signal to stop call ``stop`` with it, so that no transaction is torn; the second one works
    as ever.

    Only signals that nobody handles yet, and only in the main thread, the one that Python lets handle them.
    """
    stoppers: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    ours = [number for number, usual in stoppers.items() if signal.getsignal(number) is usual]
    if threading.current_thread() is not threading.main_thread():
        ours = []

    def restore() -> None:
        for number in ours:
            signal.signal(number, stoppers[number])

    def handle(number: int, _: object) -> None:
        restore()
        stop(signal.Signals(number))

    for number in ours:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()


def interrupt(number: signal.Signals) -> NoReturn:
    """Stop where it is, as Ctrl-C does: raise KeyboardInterrupt, whose argument is the signal."""
    raise KeyboardInterrupt(number)
