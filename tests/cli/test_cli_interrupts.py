"""Ctrl-C at moments when Python does not pass it on, or not in time."""

import subprocess
import sys
from pathlib import Path

import pytest

STOPPED = (130, b"", b"cutline: stopped")

WITHIN_A_FINALIZER = """
import signal, time
from cutline import __main__, cli
class Ends:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def work():
    Ends()
    time.sleep(60)
cli.main = work
__main__.main()
"""

BETWEEN_A_WITH_AND_ITS_FIRST_LINE = """
from contextlib import contextmanager
from pathlib import Path
import click
from cutline import __main__, cli
@contextmanager
def locked():
    Path("lock").touch()
    try:
        yield
    finally:
        Path("lock").unlink()
        Path("was unlocked").touch()
class Interrupted:
    def __enter__(self):
        self.locked = locked()
        self.locked.__enter__()
        raise KeyboardInterrupt
    def __exit__(self, *stop):
        pass
@click.command()
def command():
    with Interrupted():
        pass
cli.cutline = command
__main__.main()
"""


@pytest.mark.process
@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("program", [WITHIN_A_FINALIZER, BETWEEN_A_WITH_AND_ITS_FIRST_LINE], ids=["finalizer", "with"])
def test_ctrl_c_ends_a_command_in_order_whenever_it_comes(program: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == STOPPED
    assert [file.name for file in tmp_path.iterdir()] == ["was unlocked"] * ("lock" in program)
