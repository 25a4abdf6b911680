"""What is to be seen of a campaign: decisions as a table and a figure, and where a run stands."""

import re
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, Decision, Decisions, Pull, RunEvent
from cutline.campaign.running import watching
from cutline.errors import InvalidInputError


def decision(arm: str, mean: float | None, above: bool | None) -> Decision:
    low, high = (0.0, 1.0) if mean is None else (max(mean - 0.25, 0.0), min(mean + 0.25, 1.0))
    return Decision(arm, None, 0 if mean is None else 4, 0, mean, above, 0.25, 1.0, low, high)


DECISIONS = Decisions([decision("a", 0.25, False), decision("b", None, None), decision("c", 0.75, True)], 0.5)


def test_decisions_are_a_list_in_the_order_of_the_arms_and_a_frame() -> None:
    with Campaign.create(None, "fruit", ["pear", "plum"], 0.5, "LSA", 10) as campaign:
        campaign.run(lambda pull: pull.arm == "pear")
        found = campaign.decisions()
    assert [item.arm for item in found] == ["pear", "plum"]
    frame = found.to_frame()
    assert frame["arm"].tolist() == ["pear", "plum"]
    assert frame["decision"].tolist() == ["above", "below"]
    assert frame["pulls"].sum() == 10
    assert frame["low"].tolist() == [item.low for item in found]


def test_a_notebook_shows_decisions_as_a_table() -> None:
    shown = DECISIONS._repr_html_()
    assert shown.startswith("<table>\n<tr><th>arm</th><th>pulls</th><th>in_flight</th><th>mean</th><th>decision</th>")
    assert "<td>b</td><td>0</td><td>0</td><td>-</td><td>undecided</td>" in shown


def test_the_figure_has_every_arm_by_its_mean_its_interval_and_the_threshold() -> None:
    axes = DECISIONS.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a", "c"]
    lines: dict[Any, Any] = {str(line.get_label()).partition(":")[0]: line for line in axes.lines}
    assert list(lines["threshold 0.5"].get_xdata()) == [0.5, 0.5]
    assert (list(lines["above"].get_xdata()), list(lines["above"].get_ydata())) == ([0.75], [2])
    assert (list(lines["below"].get_xdata()), list(lines["below"].get_ydata())) == ([0.25], [1])
    spans: Any = axes.collections
    assert [[list(point) for point in item.get_segments()[0]] for item in spans] == [
        [[0.5, 2.0], [1.0, 2.0]],
        [[0.0, 1.0], [0.5, 1.0]],
        [[0.0, 0.0], [1.0, 0.0]],
    ]


def test_a_figure_of_many_arms_has_no_ids_beside_it() -> None:
    many = Decisions([decision(f"arm {number}", number / 100, number >= 50) for number in range(100)], 0.5)
    axes: Any = many.plot().axes[0]
    assert axes.get_yticklabels() == []
    assert [len(line.get_xdata()) for line in axes.lines] == [2, 50, 50]


def test_a_notebook_shows_a_figure_and_a_file_has_the_same(tmp_path: Path) -> None:
    figure: Any = DECISIONS.plot(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == figure._repr_svg_()
    with pytest.raises(InvalidInputError, match=r"x\.gif: a figure's name must end in"):
        DECISIONS.plot(tmp_path / "x.gif")


def test_a_notebook_shows_where_a_campaign_stands() -> None:
    with Campaign.create(None, "<fruit>", ["a & b", "plum"], 0.5, "LSA", 10) as campaign:
        campaign.observe("plum", 1)
        campaign.tell(campaign.ask()[0], 0)
        shown = campaign._repr_html_()
    assert shown.startswith("<p>campaign &#x27;&lt;fruit&gt;&#x27;: 2 arms, threshold 0.5, LSA(1.35)<br>")
    assert '<progress max="10" value="1"' in shown
    assert "spent 1 of 10, in flight 0, left 9" in shown
    assert "<td>a &amp; b</td>" in shown


def test_progress_without_a_terminal_says_what_went_wrong_and_now_and_then_where_the_run_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_EVERY", 0.0)
    events: list[RunEvent] = []

    def measure(pull: Pull) -> float:
        if pull.arm == "plum":
            raise ValueError("no \x1b[31mplum")
        return 1.0

    with Campaign.create(None, "fruit", ["pear", "plum"], 0.5, "LSA", 2) as campaign:
        campaign.run(measure, on_crash="zero", progress=True, watch=events.append)
    said = capsys.readouterr()
    assert said.out == ""
    assert "arm 'plum': ValueError: no \\x1b[31mplum; counts as 0" in said.err.splitlines()
    assert re.fullmatch(r"spent 2 of 2, in flight 0, left 0, expected errors \d\.\d\d", said.err.splitlines()[-1])
    assert {(event.status, event.arm, event.reward) for event in events if event.arm} == {
        ("told", "pear", 1.0),
        ("crashed", "plum", 0.0),
    }
