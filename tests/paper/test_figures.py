"""The paper's figures show the setups that there are."""

from cutline.paper.figures import FIGURES, alpha_figure, setups_figure
from cutline.paper.setups import ALPHAS, SETUPS
from cutline.simulation.curves import RegretCurves
from cutline.simulation.simulate import simulate


def quick(number: int) -> RegretCurves:
    return simulate(SETUPS[number].problem, ["LSA", "Uniform"], [100, 200], runs=20, progress=False)


def test_figures_1_and_2_show_three_setups_each() -> None:
    assert FIGURES == {"figure-1": (1, 2, 3), "figure-2": (4, 5, 6)}
    figure = setups_figure((4, 5, 6), {number: quick(number) for number in range(1, 7)})
    assert [axes.get_title() for axes in figure.axes] == [
        "Setup 4: geometric progression",
        "Setup 5: two-group setting II",
        "Setup 6: one-side group",
    ]


def test_setups_without_curves_have_no_panel() -> None:
    figure = setups_figure((1, 2, 3), {2: quick(2), 4: quick(4)})
    assert [axes.get_title() for axes in figure.axes] == ["Setup 2: arithmetic progression II"]


def test_figure_3_shows_lsa_with_five_tuning_parameters_1_35_in_black() -> None:
    figure = alpha_figure(simulate(SETUPS[1].problem, ALPHAS, [50, 100], runs=20, progress=False))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [str(policy) for policy in ALPHAS]
    colors = [line.get_color() for line in figure.axes[0].get_lines()]
    assert colors[2] == "black"
    assert len(set(colors)) == 5
