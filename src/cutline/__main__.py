"""The script cutline, and python -m cutline: the command line, which a signal may stop while it still loads."""

import gc
import os
import signal
import sys
from contextlib import suppress

_OBJECTS = 50_000
"""So many more objects make Python look for cycles: modules are made of that many, and hardly any is garbage."""
_STANDARD_ERROR = 2
_SOON = 0.01
"""Seconds after which a Ctrl-C that was lost comes once more."""


def main() -> None:
    """Run the command line; exit status 130 after Ctrl-C, whenever it comes."""
    gc.set_threshold(_OBJECTS)
    sys.unraisablehook = _stop_all_the_same
    try:
        _occupy_standard_streams()
        from cutline import cli

        cli.main()
    except KeyboardInterrupt:
        with suppress(OSError):
            os.write(_STANDARD_ERROR, b"cutline: stopped\n")
        os._exit(130)
    finally:
        gc.freeze()  # all memory is given back in a moment: Python need not look for cycles in it several times before
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the rest is Python's own end, which prints a traceback


def _stop_all_the_same(lost: "sys.UnraisableHookArgs") -> None:
    """Let a Ctrl-C that came during a finalizer or a callback, from which Python passes no exception on, come again."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        from threading import Timer

        number = next((by for by in lost.exc_value.args if isinstance(by, signal.Signals)), signal.SIGINT)
        Timer(_SOON, os.kill, [os.getpid(), number]).start()
    else:
        sys.__unraisablehook__(lost)


def _occupy_standard_streams() -> None:
    """Open the null device in the place of standard streams that are closed.

    The next file that is opened would take their numbers, and get what libraries write to them. Libraries also take
    for granted that there is a standard error. Standard output stays None: what is printed would be lost.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(_STANDARD_ERROR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - open to the end


if __name__ == "__main__":
    main()
