"""Objects that show themselves: as text, in notebooks, as Markdown, LaTeX and HTML, figures, data, and flat numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from deadheat.core import hooks
from deadheat.core.checks import as_digits
from deadheat.core.data.flat_names import Numbers, flatten
from deadheat.core.errors import ParameterError
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import import_package, polars as pl

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


def make_frame(rows: Any, schema: Any = None) -> pl.DataFrame:  # noqa: ANN401 - what a frame is made of
    """Return rows or columns as a frame; numbers that do not exist are null, not NaN."""
    check_threads()
    orient: Literal["row"] | None = "row" if schema else None
    frame = pl.DataFrame(rows, schema, orient=orient, infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


class Plottable:
    """The base of objects that have figures, which are on a higher floor and loaded at the first picture.

    Attributes
    ----------
    figure_kind : str
        The kind that figures are registered for; a class says it, as ``class A(Plottable, figures="ties")``.
    figures_shown : tuple of str
        The figures that a page shows and that --figures writes, unless others are asked for by name.
    """

    figure_kind: ClassVar[str]
    figures_shown: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, *, figures: str = "", shown: tuple[str, ...] = (), **arguments: Any) -> None:  # noqa: ANN401 - of other bases
        """Keep what the class says of its figures; one that says nothing has those of its base."""
        super().__init_subclass__(**arguments)
        if figures:
            cls.figure_kind = figures
            cls.figures_shown = shown

    def figures_by_default(self) -> tuple[str, ...]:
        """Return the figures that are shown of this object: those of its class, unless they would show little.

        Returns
        -------
        tuple of str
            Their names.
        """
        return self.figures_shown

    def plot(self, kind: str | None = None, **options: Any) -> alt.LayerChart | alt.ConcatChart:  # noqa: ANN401 - of the figure
        """Draw a figure.

        Parameters
        ----------
        kind : str, optional
            Name of the figure, such as "forest"; by default the first for such an object.
        **options
            Options of the figure, such as `measure`: see the function of its name in :mod:`deadheat.figures`.

        Returns
        -------
        altair.LayerChart
            Notebooks show it, and :func:`deadheat.figures.save` writes it to a file; "overview" is an
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
        return cast("alt.LayerChart", hooks.service("figures").plot_of(self, kind, **options))


class InNotebooks:
    """The base of objects that a notebook shows as a table.

    Reports are on a higher floor: :mod:`deadheat.core.report.shown` has the report of each class.
    """

    def _repr_html_(self) -> str:
        return self._render("html", None)

    def _render(self, form: str, digits: int | None, **options: bool) -> str:
        if digits is not None:
            digits = as_digits(digits)
        return str(hooks.service("shown").written(self, form, digits, **options))


class Renderable(InNotebooks):
    """The base of objects that print as the table that the command line prints."""

    def __str__(self) -> str:
        from shutil import get_terminal_size  # takes a while to load

        return str(hooks.service("shown").text_of(self, get_terminal_size().columns))

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
        pandas = import_package("pandas", "to_pandas() needs pandas", "pandas")
        columns = {}
        for column in self.to_polars():
            columns[column.name] = pandas.Series(column.to_list(), dtype=_choose_pandas_type(column))
        return cast("pd.DataFrame", pandas.DataFrame(columns))

    def to_flat(self) -> dict[str, float]:
        """Return the main numbers by names that experiment trackers accept, such as MLflow and Weights & Biases.

        The names are all different: of small letters, digits and underscores, with points between their parts, as
        ``"ndcg_at_10.tie_min"``. A number that does not exist (NaN, or infinity) is left out.
        """
        return flatten(self.named_numbers())

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return what prints as GitHub-flavoured Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._render("markdown", digits)

    def to_latex(self, *, digits: int | None = None) -> str:
        """Return the tables as LaTeX, for the packages booktabs and textcomp; what is said of them is in comments.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._render("latex", digits)

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
            return self._render("html", digits)
        if digits is not None:
            raise ParameterError(argument="digits", given=digits, allowed="None for a page, which has 4")
        page: str | None = hooks.service("shown").page_of(self)
        if page is None:
            raise ParameterError(argument="full", given=True, allowed=f"False for a {type(self).__name__}")
        return page


def _choose_pandas_type(column: pl.Series) -> str | None:
    """Return the type that holds a column in pandas; None leaves texts to pandas, which knows several."""
    has_gaps = column.null_count() > 0
    if column.dtype.is_float():
        return "float64"
    if column.dtype.is_integer():
        return "Int64" if has_gaps else "int64"
    if str(column.dtype) == "Boolean":
        return "boolean" if has_gaps else "bool"
    if column.null_count() == len(column):
        return "object"
    return None
