"""Figures: what is drawn, where zero goes, colours that everyone can tell apart, and files without dates."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from cutline.errors import InvalidInputError, MissingDependencyError
from cutline.plotting import figure_bytes, regret_figure, require_drawable, save_figure
from cutline.plotting.figure import BUDGET, REGRET
from cutline.problem import Problem
from cutline.simulation.curves import RegretCurves

PAPER = (
    *("LSA(1.35)", "APT(0)", "APT(0.025)", "APT(0.05)", "APT(0.1)", "UCBE(-1)", "UCBE(0)", "UCBE(4)"),
    *("Opt-KG(1,1)", "Opt-KG(0.5,0.5)", "Uniform"),
)


def curves(
    errors: Any, policies: tuple[str, ...] = ("LSA(1.35)", "Uniform"), budgets: Any = (10, 20, 30)
) -> RegretCurves:
    """Curves with given errors, shape (policies, budgets, runs)."""
    table = np.array(errors, np.int32)
    return RegretCurves(
        problem=Problem([0.3, 0.4, 0.6]),
        policies=policies,
        budgets=np.array(budgets, np.int64),
        errors=table,
        pulls=np.ones((*table.shape[:2], 3)),
        seed=0,
        streams="common",
        versions={},
    )


def falling(policies: tuple[str, ...], budgets: Any = (10, 20, 30), runs: int = 50) -> RegretCurves:
    """Curves of policies that all make some errors."""
    rng = np.random.default_rng(7)
    rates = np.linspace(2.0, 0.5, len(budgets))[:, None] * np.linspace(0.5, 1.5, len(policies))[:, None, None]
    return curves(rng.poisson(rates, (len(policies), len(budgets), runs)) + (np.arange(runs) == 0), policies, budgets)


SOME_ZERO = [[[2, 1], [1, 0], [0, 0]], [[2, 2], [2, 1], [1, 1]]]


def line_of(figure: Figure, policy: int) -> Any:
    return figure.axes[0].get_lines()[policy]


def test_the_curves_are_the_means_over_the_budgets_with_axes_named_and_policies_in_the_legend() -> None:
    given = curves([[[2, 1], [1, 1], [1, 2]], [[2, 2], [2, 1], [1, 1]]])
    figure = regret_figure({"Setup 1": given})
    axes = figure.axes[0]
    assert line_of(figure, 0).get_xydata().tolist() == [[10, 1.5], [20, 1.0], [30, 1.5]]
    assert line_of(figure, 1).get_xydata().tolist() == [[10, 2.0], [20, 1.5], [30, 1.0]]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Setup 1", BUDGET, REGRET)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LSA(1.35)", "Uniform"]
    assert axes.get_yscale() == "log"


def test_the_band_is_1_96_standard_errors_to_either_side() -> None:
    figure = regret_figure({"": curves([[[2, 4], [1, 1], [1, 2]]], ("LSA(1.35)",))})
    band = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)
    at_first = sorted({float(y) for x, y in band if x == 10})
    assert at_first == pytest.approx([3 - 1.96, 3 + 1.96])  # standard error of (2, 4): sqrt(2) / sqrt(2) = 1


def test_a_single_run_has_no_band_and_says_so() -> None:
    figure = regret_figure({"": curves([[[2], [1], [1]], [[2], [2], [1]]])})
    assert len(figure.axes[0].collections) == 0
    assert figure.legends[0].get_title().get_text() == "one run"


def test_zero_regret_is_drawn_at_a_tick_that_says_0_below_a_shaded_strip() -> None:
    figure = regret_figure({"": curves(SOME_ZERO)})
    axes = figure.axes[0]
    assert line_of(figure, 0).get_ydata().tolist() == [1.5, 0.5, 0.0]
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_yscale() == "symlog"
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "0.2", "0.5", "1", "2"]
    strip = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (strip.y0, strip.y1) == pytest.approx((0.0, 0.2))  # ends below 0.5, the smallest that was seen
    zero, edge, top = (axes.transData.transform((10, y))[1] for y in (0.0, 0.2, axes.get_ylim()[1]))
    assert 0.08 < (edge - zero) / (top - zero) < 0.25


def test_without_zero_the_axis_is_plainly_logarithmic_and_unshaded() -> None:
    axes = regret_figure({"": falling(PAPER)}).axes[0]
    assert axes.get_yscale() == "log"
    assert not axes.patches
    assert axes.get_ylim()[0] > 0.0


def test_curves_that_are_zero_everywhere_can_be_drawn() -> None:
    figure = regret_figure({"": curves(np.zeros((2, 3, 4)))})
    assert line_of(figure, 1).get_ydata().tolist() == [0.0, 0.0, 0.0]
    assert figure.axes[0].get_yticklabels()[0].get_text() == "0"
    assert len(figure_bytes(figure, ".png")) > 5000


@pytest.mark.parametrize(("lowest", "highest"), [(0.5, 600.0), (0.02, 0.9), (0.31, 0.74), (0.61, 0.66)])
def test_three_labels_or_more_stand_on_the_axis_whatever_its_span(lowest: float, highest: float) -> None:
    runs = 100
    errors = np.zeros((2, 3, runs), np.int64)
    errors[0] = round(lowest * runs) // runs
    errors[0, :, : round(lowest * runs) % runs] += 1
    errors[1] = round(highest * runs) // runs
    errors[1, :, : round(highest * runs) % runs] += 1
    labels = [label.get_text() for label in regret_figure({"": curves(errors)}).axes[0].get_yticklabels()]
    assert len(labels) >= 3
    assert [float(label) for label in labels] == sorted({float(label) for label in labels})


def test_a_single_budget_becomes_a_row_of_points_with_bars_one_policy_a_line() -> None:
    figure = regret_figure({"": curves([[[2, 4]], [[1, 1]]], budgets=(1000,))})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["LSA(1.35)", "Uniform"]
    drawn = [np.asarray(line.get_xydata()) for line in axes.get_lines()]
    points = [line[0].tolist() for line in drawn if len(line) == 1]
    assert [3.0, 0.0] in points
    assert [1.0, 1.0] in points
    (bars,) = (item for item in axes.collections[:1] if isinstance(item, LineCollection))
    assert bars.get_segments()[0].tolist() == pytest.approx(np.array([[3 - 1.96, 0], [3 + 1.96, 0]]))
    assert "1,000 pulls" in axes.get_xlabel()
    assert not figure.legends


def test_a_single_budget_and_run_and_zero_errors_have_their_place_too() -> None:
    axes = regret_figure({"": curves([[[0]], [[2]]], budgets=(10,))}).axes[0]
    assert axes.get_xlim()[0] == 0.0
    assert not axes.collections
    assert "one run" in axes.get_xlabel()


def test_evenly_spaced_budgets_get_an_even_axis_and_multiplied_ones_a_logarithmic_one() -> None:
    assert regret_figure({"": falling(PAPER, (100, 200, 300, 400))}).axes[0].get_xscale() == "linear"
    assert regret_figure({"": falling(PAPER, (10, 100, 1000, 10000))}).axes[0].get_xscale() == "log"
    assert regret_figure({"": falling(PAPER, (10, 1000))}).axes[0].get_xscale() == "linear"


def test_policies_look_the_same_in_every_panel_and_share_one_legend() -> None:
    figure = regret_figure({"a": falling(("LSA(1.35)", "APT(0)", "Uniform")), "b": falling(("Uniform", "APT(0)"))})
    colors = [[line.get_color() for line in axes.get_lines()] for axes in figure.axes]
    assert colors[1] == [colors[0][2], colors[0][1]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LSA(1.35)", "APT(0)", "Uniform"]
    assert [axes.get_ylabel() for axes in figure.axes] == [REGRET, ""]


def test_every_competitor_is_solid_with_a_marker_of_its_own_and_yardsticks_are_dashed() -> None:
    figure = regret_figure({"": falling((*PAPER, "Gap-Oracle"))})
    *competitors, yardstick = figure.axes[0].get_lines()
    assert {line.get_linestyle() for line in competitors} == {"-"}
    assert len({line.get_marker() for line in competitors}) == len(PAPER)
    assert yardstick.get_linestyle() == "--"
    assert to_rgb(competitors[0].get_color()) == (0, 0, 0)


def test_a_policy_of_the_users_own_is_drawn_like_any_competitor() -> None:
    figure = regret_figure({"": falling(("LSA(1.35)", "Mine(3)"))})
    assert line_of(figure, 1).get_linestyle() == "-"


# Machado, Oliveira, Fernandes: A physiologically-based model for simulation of color vision deficiency, IEEE TVCG
# 15, 2009, table 1 at severity 1: what a person without red, green or blue cones sees, in linear RGB.
SIGHT = {
    "full": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def seen(color: str, sight: np.ndarray) -> np.ndarray:
    """CIELAB coordinates (D65) of a colour as seen by such eyes."""
    channels = np.array(to_rgb(color))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = to_xyz @ np.clip(sight @ linear, 0, 1) / np.array([0.9505, 1.0, 1.089])

    def f(t: float) -> float:
        return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29

    return np.array([116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))])


def least_difference(colors: list[str], sight: np.ndarray) -> float:
    return min(float(np.linalg.norm(seen(a, sight) - seen(b, sight))) for a, b in combinations(colors, 2))


@pytest.mark.parametrize("sight", SIGHT.values(), ids=SIGHT.keys())
def test_the_papers_families_keep_apart_for_every_kind_of_colour_vision(sight: np.ndarray) -> None:
    lines = (
        regret_figure({"": falling(("LSA(1.35)", "APT(0)", "UCBE(0)", "Opt-KG(1,1)", "Uniform"))}).axes[0].get_lines()
    )
    assert least_difference([str(line.get_color()) for line in lines], sight) > 15  # 2.3 is just noticeable


def test_the_measure_of_colours_does_fail_for_red_and_green_of_equal_lightness() -> None:
    assert (
        least_difference(["#b0602a", "#7a7a10"], SIGHT["no green"])
        < 15
        < least_difference(["#b0602a", "#7a7a10"], SIGHT["full"])
    )


def test_nothing_written_overlaps_or_is_cut_off_in_a_figure_of_three_panels() -> None:
    panels = {
        f"Setup {i}: arithmetic progression II": falling((*PAPER, "Gap-Oracle"), range(5000, 100001, 5000))
        for i in range(3)
    }
    figure = regret_figure(panels)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = []
    for axes in figure.axes:
        low, high = axes.get_xlim()
        shown = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
        boxes += [text.get_window_extent(renderer) for text in (axes.title, axes.xaxis.label, axes.yaxis.label)]
        boxes += [text.get_window_extent(renderer) for text in (*shown, *axes.get_yticklabels())]
    boxes.append(figure.legends[0].get_window_extent(renderer))
    width, height = canvas.get_width_height()
    assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_equal_curves_give_equal_files_whatever_the_users_own_settings(tmp_path: Path, ending: str) -> None:
    import matplotlib

    save_figure(regret_figure({"a": falling(PAPER)}), tmp_path / f"one{ending}")
    with matplotlib.rc_context({"svg.hashsalt": None, "lines.linewidth": 9, "font.size": 30}):
        save_figure(regret_figure({"a": falling(PAPER)}), tmp_path / f"two{ending}")
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()
    assert (tmp_path / f"one{ending}").stat().st_size > 5000


def test_an_svg_holds_no_date() -> None:
    content = figure_bytes(regret_figure({"a": falling(PAPER)}), ".svg").decode()
    assert "<svg" in content
    assert "dc:date" not in content


def test_another_ending_or_no_place_to_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"x\.gif: a figure's name must end in one of \.svg, \.png, \.pdf"):
        require_drawable(tmp_path / "x.gif")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="cannot write"):
        require_drawable(tmp_path / "file" / "x.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(InvalidInputError, match="it is a folder"):
        require_drawable(tmp_path / "folder.svg")
    require_drawable(tmp_path / "new" / "x.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.svg"]


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_curves_draw_themselves_as_a_panel_of_their_own(tmp_path: Path, ending: str) -> None:
    drawn = falling(("LSA(1.35)", "Uniform"))
    want = figure_bytes(regret_figure({"Two": drawn}), ending)
    assert figure_bytes(drawn.plot(title="Two"), ending) == want
    assert drawn.plot(tmp_path / f"two{ending}", title="Two").axes[0].get_title() == "Two"
    assert (tmp_path / f"two{ending}").read_bytes() == want


def test_curves_are_not_drawn_into_a_file_that_has_another_ending(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"two\.gif: a figure's name must end in one of \.svg, \.png, \.pdf$"):
        falling(("LSA(1.35)",)).plot(tmp_path / "two.gif")


def test_no_panels_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least one panel"):
        regret_figure({})


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "cutline\[plot\]"'):
        regret_figure({"": falling(PAPER)})


def test_figures_do_without_pyplot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it fails
    assert figure_bytes(regret_figure({"": falling(PAPER)}), ".png").startswith(b"\x89PNG")


@pytest.mark.process
@pytest.mark.parametrize("named", ["module://matplotlib_inline.backend_inline", "nonsense", "svg"])
def test_a_file_needs_no_backend_and_one_that_is_there_stays_the_users(named: str, tmp_path: Path) -> None:
    program = """
import os, sys
from cutline.plotting.saving import figure_style, save_figure
with figure_style():
    from matplotlib.figure import Figure
    save_figure(Figure(), sys.argv[1])
import matplotlib
print(os.environ["MPLBACKEND"], matplotlib.rcParams["backend"] if os.environ["MPLBACKEND"] == "svg" else "")
"""
    command = [sys.executable, "-c", program, str(tmp_path / "x.png")]
    done = subprocess.run(command, env=os.environ | {"MPLBACKEND": named}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{named} {'svg' if named == 'svg' else ''}\n", "")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
