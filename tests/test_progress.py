"""A bar on a terminal, nothing elsewhere."""

import io

import pytest

from cutline.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_callable_is_told_every_amount() -> None:
    told: list[int] = []
    with progress_bar("working", 10, told.append) as advance:
        advance(3)
        advance(7)
    assert told == [3, 7]


@pytest.mark.parametrize("progress", [None, True, False])
def test_nothing_is_shown_where_there_is_no_terminal(progress: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    err, out = io.StringIO(), Terminal()
    monkeypatch.setattr("sys.stderr", err)
    monkeypatch.setattr("sys.stdout", out)
    with progress_bar("working", 10, progress) as advance:
        advance(10)
        assert err.getvalue() == out.getvalue() == ""


@pytest.mark.parametrize(("progress", "shown"), [(None, True), (True, True), (False, False)])
def test_a_bar_with_its_title_is_shown_on_a_terminal(
    progress: bool | None, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, out = Terminal(), Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("working", 10, progress) as advance:
        advance(10)
    assert ("working" in terminal.getvalue()) == shown
    assert ("100%" in terminal.getvalue()) == shown
    assert out.getvalue() == ""
