"""Work that does not fit is refused with how much it needs and how much there is."""

import pytest

from cutline import memory
from cutline.errors import CutlineError, OutOfMemoryError


def test_more_than_there_is_is_refused_and_less_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 3.0e9)
    memory.require_memory(2.9e9, "7 arms")
    with pytest.raises(OutOfMemoryError) as caught:
        memory.require_memory(3.14e9, "7 arms")
    assert str(caught.value) == (
        "7 arms need about 3.1 GB of memory, and 3.0 GB are free; use fewer arms, budgets or threads"
    )
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, CutlineError)


def test_this_machine_has_some_memory_and_not_infinitely_much() -> None:
    assert 1e6 < memory.available_memory() < 1e15
