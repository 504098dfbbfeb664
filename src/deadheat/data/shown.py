"""Objects that show themselves: as text, in a notebook, as Markdown, LaTeX and HTML, as figures, and as data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from deadheat.data.flat import Numbers, flat
from deadheat.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import polars as pl


class Plottable:
    """The base of what has figures, which are on a higher floor, loaded at the first picture."""

    def plot(self, kind: str | None = None, **options: Any) -> alt.LayerChart | alt.ConcatChart:  # noqa: ANN401 - of the figure
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
            Which notebooks show, and :func:`deadheat.figures.save` writes to a file; "overview" is an
            altair.ConcatChart.

        Raises
        ------
        MissingDependencyError
            The packages of figures are not installed: ``pip install 'deadheat[figures]'``.
        ParameterError
            There is no such figure of this object.
        FigureError
            The figure cannot show this object; the message says why.
        """
        chart: alt.LayerChart | alt.ConcatChart = import_module("deadheat.figures").plot_of(self, kind, **options)
        return chart


class InNotebooks:
    """The base of what a notebook shows as a table.

    Reports are on a higher floor: :mod:`deadheat.report.shown` has the report of each class, and the package says here
    how it is loaded, when an object is first shown.
    """

    presenting: ClassVar[Callable[[], Any]]

    def _repr_html_(self) -> str:
        return self._written("html", None)

    def _written(self, form: str, digits: int | None, **options: bool) -> str:
        text: str = InNotebooks.presenting().written(self, form, digits, **options)
        return text


class Shown(InNotebooks):
    """The base of what prints as the table that the command line prints."""

    def __str__(self) -> str:
        from shutil import get_terminal_size  # takes a while to load

        text: str = Shown.presenting().text_of(self, get_terminal_size().columns)
        return text

    @abstractmethod
    def to_polars(self) -> pl.DataFrame:
        """Return the numbers as a frame."""

    @abstractmethod
    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the frame of :meth:`to_polars` as one of pandas, without PyArrow.

        Whole numbers with gaps are "Int64", True and False with gaps are "boolean"; a missing number is NaN.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError(
                "to_pandas() needs pandas, which is not installed", hint="pip install 'deadheat[pandas]'"
            ) from error
        frame = self.to_polars()
        return pd.DataFrame({column.name: pd.Series(column.to_list(), dtype=_pandas_type(column)) for column in frame})

    def to_flat(self) -> dict[str, float]:
        """Return the main numbers by names that experiment trackers accept, such as MLflow and Weights & Biases.

        The names are all different: of small letters, digits and underscores, with points between their parts, as
        ``"ndcg_at_10.tie_min"``. A number that does not exist (NaN, or infinity) is left out.
        """
        return flat(self.named_numbers())

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return what prints as GitHub-flavoured Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._written("markdown", digits)

    def to_latex(self, *, digits: int | None = None) -> str:
        """Return the tables as LaTeX, for the packages booktabs and textcomp; what is said of them is in comments.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._written("latex", digits)

    def to_html(self, *, full: bool = False, digits: int | None = None) -> str:
        """Return what prints as a piece of HTML without scripts, for light and dark pages; or a whole page.

        Parameters
        ----------
        full : bool, default False
            Of an evaluation, a comparison and a benchmark: a document that needs no other file and no network, with
            figures (if the extra ``figures`` is installed) and tables that sort and search, as ``deadheat report``
            writes it; without the runs it has no rankings.
        digits : int, optional
            Decimals of a piece, by default 4.

        Raises
        ------
        ParameterError
            There is no page of such an object, or it is asked for with other decimals.
        """
        if not full:
            return self._written("html", digits)
        if digits is not None:
            raise ParameterError(argument="digits", given=digits, allowed="None for a page, which has 4")
        page: str | None = Shown.presenting().page_of(self)
        if page is None:
            raise ParameterError(argument="full", given=True, allowed=f"False for a {type(self).__name__}")
        return page


def _pandas_type(column: pl.Series) -> str | None:
    """Return the type that holds a column in pandas; None leaves texts to pandas, which knows several."""
    has_gaps = column.null_count() > 0
    if column.dtype.is_float():
        return "float64"
    if column.dtype.is_integer():
        return "Int64" if has_gaps else "int64"
    if str(column.dtype) == "Boolean":
        return "boolean" if has_gaps else "bool"
    return "object" if column.null_count() == len(column) else None
