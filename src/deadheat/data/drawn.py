"""Objects that draw themselves: their figures are on a higher floor, which is loaded at the first picture."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


class Drawn:
    """The base of what has figures."""

    def plot(self, kind: str | None = None, **options: Any) -> alt.LayerChart:  # noqa: ANN401 - of the figure
        """Draw a figure.

        Parameters
        ----------
        kind : str, optional
            Its name, such as "forest"; by default the first that there is of such an object.
        **options
            Of the figure, such as `measure`: see the function of this name in :mod:`deadheat.figures`.

        Returns
        -------
        altair.LayerChart
            Which notebooks show, and :func:`deadheat.figures.save` writes to a file.

        Raises
        ------
        MissingDependencyError
            The packages of figures are not installed: ``pip install 'deadheat[figures]'``.
        ParameterError
            There is no such figure of this object.
        FigureError
            The figure cannot show this object; the message says why.
        """
        chart: alt.LayerChart = import_module("deadheat.figures").plot_of(self, kind, **options)
        return chart
