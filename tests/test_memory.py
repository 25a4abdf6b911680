"""Work that does not fit is refused with how much it needs and how much there is."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from cutline import memory
from cutline.errors import CutlineError, OutOfMemoryError


def test_more_than_there_is_is_refused_and_less_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 3.0e9)
    memory.require_memory(2.9e9, "7 arms")
    with pytest.raises(OutOfMemoryError) as caught:
        memory.require_memory(3.14e9, "7 arms")
    assert str(caught.value) == (
        "7 arms need about 3.1 GB of memory, and 3.0 GB are free; use fewer arms, runs, budgets or threads"
    )
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, CutlineError)


def test_of_what_there_always_is_nobody_asks_whether_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 0.0)
    memory.require_memory(1e6, "7 arms")
    with pytest.raises(OutOfMemoryError):
        memory.require_memory(1.1e6, "7 arms")


@pytest.fixture
def cgroup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with 8 GB free, and an empty folder in place of its control group."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8_000_000_000))
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 8e9),
        ({"memory.max": "max\n", "memory.current": "7000000000\n"}, 8e9),
        ({"memory.max": "2000000000\n", "memory.current": "1500000000\n"}, 0.5e9),
        ({"memory.max": "2000000000\n"}, 2e9),
        ({"memory.max": "20000000000\n", "memory.current": "1000000000\n"}, 8e9),
        ({"memory.max": "2000000000\n", "memory.current": "2000004096\n"}, 0.0),
    ],
)
def test_what_is_free_is_that_of_the_machine_or_of_its_container_whichever_is_less(
    cgroup: Path, files: dict[str, str], free: float
) -> None:
    for name, text in files.items():
        (cgroup / name).write_text(text)
    assert memory.available_memory() == free


def test_work_beyond_the_limit_of_the_container_is_refused(cgroup: Path) -> None:
    (cgroup / "memory.max").write_text("1000000000\n")
    (cgroup / "memory.current").write_text("400000000\n")
    memory.require_memory(0.59e9, "7 arms")
    with pytest.raises(OutOfMemoryError, match=r"7 arms need about 0\.7 GB of memory, and 0\.6 GB are free"):
        memory.require_memory(0.7e9, "7 arms")
