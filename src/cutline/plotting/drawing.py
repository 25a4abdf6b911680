"""The figures that Cutline makes; needs matplotlib."""

from matplotlib.figure import Figure

from cutline.plotting.saving import figure_bytes


class Drawing(Figure):
    """A figure of matplotlib that a notebook shows, though it is made without pyplot."""

    def _repr_svg_(self) -> str:
        return figure_bytes(self, ".svg").decode()
