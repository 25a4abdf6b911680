"""The script cutline, and python -m cutline: the command line, which a signal may stop while it still loads."""

import gc
import os
import signal
from contextlib import suppress

_OBJECTS = 50_000
"""So many more objects make Python look for cycles: modules are made of that many, and hardly any is garbage."""


def main() -> None:
    """Run the command line; exit status 130 after Ctrl-C, whenever it comes."""
    gc.set_threshold(_OBJECTS)
    try:
        from cutline import cli

        cli.main()
    except KeyboardInterrupt:
        with suppress(OSError):
            os.write(2, b"cutline: stopped\n")
        os._exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the rest is Python's own end, which prints a traceback


if __name__ == "__main__":
    main()
