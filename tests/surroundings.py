"""What tests must not take from whoever started them: signals, and processes that outlive their test."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

PATIENCE = 600
"""Seconds after which a test takes a process for stuck; none needs a tenth of it on an idle machine."""

STOPPERS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}
"""The signals that ask a program to stop, each with what Python does about it when nobody has said otherwise."""


def processor_time(pid: int) -> float:
    """Return the seconds of processor time that a running process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_running(process: int) -> bool:
    """Tell whether there is such a process that is not just waiting to be buried."""
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_for(done: Callable[[], bool]) -> None:
    """Wait until something is done; fail after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextlib.contextmanager
def default_signals() -> Iterator[None]:
    """Let the signals that stop a program work as usual, in this process and in those that it starts meanwhile.

    A shell ignores SIGINT in what it starts in the background, nohup ignores SIGHUP, and children inherit that.
    """
    before = {number: signal.signal(number, usual) for number, usual in STOPPERS.items()}
    blocked = signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPERS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def processes() -> Iterator[Callable[..., "subprocess.Popen[Any]"]]:
    """Yield what starts a process as ``subprocess.Popen`` does; at the end all are killed and their pipes closed."""
    started: list[subprocess.Popen[Any]] = []

    def start(command: list[str], **options: Any) -> "subprocess.Popen[Any]":
        with default_signals():
            started.append(subprocess.Popen(command, **options))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            with process:  # closes its pipes and waits for it
                pass
