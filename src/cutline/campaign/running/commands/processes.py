"""Commands as process groups: each is started, waited for, and ended with all that it has started."""

import os
import select
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import IO, TypeAlias

GRACE = 2.0
"""Seconds that a command has between being asked to end and being killed."""

_LOOK = 0.2
"""Seconds between two looks whether a command is late."""

Process: TypeAlias = "subprocess.Popen[bytes]"

_GUARD = f"""
while read -r line; do groups=$line; done
for group in $groups; do kill -s TERM -- "-$group"; kill -s CONT -- "-$group"; done
[ -z "$groups" ] || sleep {GRACE:g}
for group in $groups; do kill -s KILL -- "-$group"; done
"""
"""A shell script that reads the groups that run, a line whenever they change, and ends the last ones at its end."""


class Processes:
    """The commands that run now; safe to use from several threads.

    If this process dies before they end, even by kill -9, a guard ends them: a process of its own, started with the
    first command, that sees a pipe from here close.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: set[Process] = set()
        self._running: set[Process] = set()
        self._guard: Process | None = None

    def run(
        self,
        arguments: Sequence[bytes],
        output: IO[bytes] | int,
        errors: IO[bytes],
        timeout: float | None = None,
        *,
        is_late: Callable[[], bool] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Run a command, without input, and return its exit status, or minus the signal that has ended it.

        Raises OSError or ValueError if it cannot be started, TimeoutError if it had to be ended: it takes longer than
        ``timeout`` seconds, or ``is_late``, which is asked several times a second, says so. What else comes up while it
        runs ends it, too.
        """
        process = self.start(arguments, output, errors, environment=environment)
        return self.wait(process, timeout, is_late)

    def start(
        self,
        arguments: Sequence[bytes],
        output: IO[bytes] | int,
        errors: IO[bytes],
        *,
        environment: Mapping[str, str] | None = None,
        inherited: Collection[int] = (),
    ) -> Process:
        """Start a command, without input, for ``wait``; raise OSError or ValueError if it cannot be started.

        ``environment`` is added to that of this process; ``inherited`` are file descriptors that it gets, too. Until
        somebody waits for it, ``stop`` leaves it alone.
        """
        with self._lock:
            if self._guard is None:
                self._guard = _start_guard(self)
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for us: a test that it ended would count as failed
                env=None if environment is None else {**os.environ, **environment},
                pass_fds=tuple(inherited),
            )
            self._started.add(process)
            self._tell_guard(self._guard)
            return process

    def wait(self, process: Process, timeout: float | None = None, is_late: Callable[[], bool] | None = None) -> int:
        """Wait for the end of a command that was started; see ``run``."""
        with self._lock:
            self._running.add(process)
        try:
            if is_late is not None:
                while not _ends_within(process, _LOOK):
                    if is_late():
                        raise subprocess.TimeoutExpired(process.args, _LOOK)
            elif timeout is not None and not _ends_within(process, timeout):
                raise subprocess.TimeoutExpired(process.args, timeout)
            return process.wait()
        except subprocess.TimeoutExpired:
            self._end(process)
            raise TimeoutError from None
        except BaseException:  # Ctrl-C, where this is the main thread
            self._end(process)
            raise
        finally:
            with self._lock:
                self._running.discard(process)
                self._started.discard(process)
                assert self._guard is not None
                self._tell_guard(self._guard)

    def stop(self, how: signal.Signals) -> None:
        """Send a signal to every process of the commands that are running now."""
        with self._lock:
            for process in self._running:
                _signal_group(process, how)

    def _end(self, process: Process) -> None:
        """End a command with all that it has started."""
        with self._lock:
            _signal_group(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        with self._lock:
            _signal_group(process, signal.SIGKILL)
        process.wait()

    def _tell_guard(self, guard: Process) -> None:
        """Tell the guard which groups run."""
        assert guard.stdin is not None
        groups = " ".join(str(process.pid) for process in self._started)
        with suppress(BrokenPipeError):  # somebody has ended the guard: the commands can be run all the same
            os.write(guard.stdin.fileno(), f"{groups}\n".encode())


def _ends_within(process: Process, seconds: float) -> bool:
    """Wait for the end of a process, but not longer; without Linux's descriptors it is looked for every 50 ms."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(1000 * seconds))
    finally:
        os.close(descriptor)


def _start_guard(owner: Processes) -> Process:
    guard = subprocess.Popen(
        ["/bin/sh", "-c", _GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    weakref.finalize(owner, _dismiss, guard)
    return guard


def _dismiss(guard: Process) -> None:
    assert guard.stdin is not None
    guard.stdin.close()
    guard.wait()


def _signal_group(process: Process, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
        os.killpg(process.pid, signal.SIGCONT)  # or one that is stopped would not see it
