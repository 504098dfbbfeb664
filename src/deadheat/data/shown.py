"""Objects that show themselves: as text, in a notebook, as Markdown, LaTeX and HTML, and as data."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from deadheat.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Part: TypeAlias = "str | tuple[str, ...]"
"""A part of a name: a text, or several that are read as "one vs other"."""
Numbers: TypeAlias = "Iterable[tuple[tuple[Part, ...], float | None]]"
"""Numbers with the parts of their names."""


class Shown:
    """The base of what prints as the table that the command line prints.

    Reports are on a higher floor: a class names the function there that makes its report, ``"module:function"``, and
    it is loaded when an object is first shown.
    """

    _reported_by: ClassVar[str]
    _paged_by: ClassVar[str] = ""

    def __init_subclass__(cls, *, reported_by: str = "", paged_by: str = "", **others: Any) -> None:  # noqa: ANN401 - what other bases take
        super().__init_subclass__(**others)
        if reported_by:
            cls._reported_by = reported_by
        if paged_by:
            cls._paged_by = paged_by

    def __str__(self) -> str:
        width = shutil.get_terminal_size().columns
        text: str = _load("deadheat.report.text:as_text")(self._report(), width=width).plain
        return text

    def _repr_html_(self) -> str:
        return self.to_html()

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
        found: dict[str, float] = _load("deadheat.data.flat:flat")(self.named_numbers())
        return found

    def to_markdown(self, *, digits: int | None = None) -> str:
        """Return what prints as GitHub-flavoured Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._written("as_markdown:as_markdown", digits)

    def to_latex(self, *, digits: int | None = None) -> str:
        """Return the tables as LaTeX, for the packages booktabs and textcomp; what is said of them is in comments.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        """
        return self._written("as_latex:as_latex", digits)

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
            return self._written("as_html:fragment", digits)
        if not self._paged_by:
            raise ParameterError(argument="full", given=True, allowed=f"False for a {type(self).__name__}")
        if digits is not None:
            raise ParameterError(argument="digits", given=digits, allowed="None for a page, which has 4")
        page: str = _load(self._paged_by)(self)
        return page

    def _report(self, **options: bool) -> Any:  # noqa: ANN401 - a Report, of a higher floor
        return _load(self._reported_by)(self, **options)

    def _written(self, form: str, digits: int | None, *, compact: bool = False, **options: bool) -> str:
        report = _load("deadheat.report.of_shown:of_compact")(self, digits) if compact else self._report(**options)
        text: str = _load(f"deadheat.report.{form}")(report, digits=digits)
        return text


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


def _load(place: str) -> Any:  # noqa: ANN401 - a function of any kind
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
