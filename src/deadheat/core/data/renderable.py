"""Objects that show themselves: as text, in notebooks, as Markdown, LaTeX and HTML, figures, data, and flat numbers.

Flat numbers are what experiment trackers keep: ``{"ndcg_at_10.tie_min": 0.41}``.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from deadheat.core import hooks
from deadheat.core.checks import as_digits
from deadheat.core.errors import ParameterError
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import import_package, polars as pl
from deadheat.core.structures import group_values

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


Label: TypeAlias = "str | tuple[str, ...]"  # a part of a name: a text, or several that are read as "one vs other"
Numbers: TypeAlias = "Iterable[tuple[tuple[Label, ...], float | None]]"  # numbers with the parts of their names

LONGEST = 48  # characters of a part: five of them fit into the 250 that MLflow allows
DIGITS = 8  # of a hash
WORDS = (
    ("@", " at "),
    (">=", " ge "),
    ("<=", " le "),
    (">", " gt "),
    ("<", " lt "),
    (r"(?<!\w)-(?=[\d.])|(?<=\s)-(?=\s)", " minus "),
    ("%", " percent "),
)


def frame_of(rows: Any, schema: Any = None) -> pl.DataFrame:  # noqa: ANN401 - what a frame is made of
    """Return rows or columns as a frame; numbers that do not exist are null, not NaN."""
    check_threads()
    return pl.DataFrame(rows, schema, orient="row" if schema else None, infer_schema_length=None).with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )


def flat_name(*parts: Label) -> str:
    """Return a name that experiment trackers accept: of small letters, digits and underscores, with points between.

    Letters that have no counterpart among these are replaced by a hash of the whole part, and so is what is too long.
    Different parts may have the same name, as "bm25" and "BM25" have; :func:`flat` tells them apart.

    Parameters
    ----------
    *parts : str or tuple of str

    Examples
    --------
    >>> flat_name("nDCG(gain='exp')@10", "tie_min"), flat_name("P(rel=2)@5", ("dense-v2", "BM25"), "difference")
    ('ndcg_gain_exp_at_10.tie_min', 'p_rel_2_at_5.dense_v2_vs_bm25.difference')
    >>> flat_name("RR >= 0.8", "margin"), flat_name("11pt_avg"), flat_name("naïve"), flat_name("木")
    ('rr_ge_0_8.margin', '_11pt_avg', 'naive', '_9213ab05')
    """
    return ".".join(map(_flat_part, parts))


def flat(numbers: Numbers) -> dict[str, float]:
    """Return numbers by flat names, all different; those that do not exist, NaN, None and infinity, are left out.

    Of several that would have the same name, each gets a hash of its parts behind the first one, but for one that is
    written so.

    Examples
    --------
    >>> flat([(("nDCG@10",), 0.5), (("nDCG@10", "tie_min"), 0.25), (("ERR",), float("nan"))])
    {'ndcg_at_10': 0.5, 'ndcg_at_10.tie_min': 0.25}
    >>> list(flat([(("RR", "bm25"), 1), (("RR", "BM25"), 0)]))
    ['rr.bm25', 'rr.bm25_9aecf153']
    """
    found = [(parts, float(number)) for parts, number in numbers if number is not None and math.isfinite(number)]
    # the names of a part are told apart wherever it is used, so that all its numbers have the same
    owners = group_values((_above(parts, place), parts[place]) for parts, _ in found for place in range(len(parts)))
    are_alone = {name: len(set(own)) == 1 for name, own in owners.items()}
    names: dict[str, float] = {}
    for parts, number in found:
        shown = [
            _flat_part(part) if are_alone[_above(parts, place)] or part == _flat_part(part) else _hashed(part)
            for place, part in enumerate(parts)
        ]
        name = ".".join(shown)
        while name in names:  # a measure may have the name of another number, or that of a hash
            name += "_"
        names[name] = number
    return names


def _above(parts: tuple[Label, ...], place: int) -> tuple[str, ...]:
    """Return the flat name of a part with those above it: the parts that share it would be one."""
    return tuple(map(_flat_part, parts[: place + 1]))


def _flat_part(part: Label) -> str:
    name, is_whole = _plain(part if isinstance(part, str) else " vs ".join(part))
    return name if is_whole and 0 < len(name) <= LONGEST else _hashed(part)


def _plain(text: str) -> tuple[str, bool]:
    """Return a text in small letters, digits and underscores, and whether each letter has its counterpart."""
    if not text.isascii():
        import unicodedata  # rarely needed

        text = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    is_whole = not any(one.isalnum() and not one.isascii() for one in text)
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    name = re.sub("[^a-z0-9]+", "_", text.lower()).strip("_")
    return f"_{name}" if name[:1].isdigit() else name, is_whole


def _hashed(part: Label) -> str:
    from hashlib import sha256  # rarely needed

    text = part if isinstance(part, str) else "\0".join(part)
    digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGITS]
    name, _ = _plain(text)
    return f"{name[: LONGEST - DIGITS - 1].rstrip('_')}_{digest}"


class Plottable:
    """The base of what has figures, which are on a higher floor, loaded at the first picture.

    Attributes
    ----------
    figure_kind : str
        What figures of such objects are registered for; each class says it, as ``class A(Plottable, figures="ties")``.
    figures_shown : tuple of str
        The figures that a page shows and that --figures writes, unless others are asked for by name.
    """

    figure_kind: ClassVar[str]
    figures_shown: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, *, figures: str = "", shown: tuple[str, ...] = (), **others: Any) -> None:  # noqa: ANN401 - of other bases
        """Keep what the class says of its figures; one that says nothing has those of its base."""
        super().__init_subclass__(**others)
        if figures:
            cls.figure_kind = figures
            cls.figures_shown = shown

    def figures_by_default(self) -> tuple[str, ...]:
        """Return the figures that are shown of this object: those of its class, unless it says that they show little.

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
        return cast("alt.LayerChart", hooks.service("figures").plot_of(self, kind, **options))


class InNotebooks:
    """The base of what a notebook shows as a table.

    Reports are on a higher floor: :mod:`deadheat.core.report.shown` has the report of each class.
    """

    def _repr_html_(self) -> str:
        return self._written("html", None)

    def _written(self, form: str, digits: int | None, **options: bool) -> str:
        if digits is not None:
            digits = as_digits(digits)
        return str(hooks.service("shown").written(self, form, digits, **options))


class Renderable(InNotebooks):
    """The base of what prints as the table that the command line prints."""

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
        columns = {one.name: pandas.Series(one.to_list(), dtype=_pandas_type(one)) for one in self.to_polars()}
        return cast("pd.DataFrame", pandas.DataFrame(columns))

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
        page: str | None = hooks.service("shown").page_of(self)
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
