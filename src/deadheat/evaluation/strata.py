"""Strata: an evaluation by groups of queries, such as their languages, and the averages and variance between them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from deadheat.data.queries import Queries
from deadheat.errors import ColumnError, MixedLanguagesWarning, ParameterError, UnlabelledQueriesWarning
from deadheat.evaluation.evaluation import SMALLEST
from deadheat.evaluation.intervals import KNOWN, cluster_codes
from deadheat.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from deadheat.arrays import BoolArray
    from deadheat.data.tables import Source
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import Cluster, Interval, IntervalOptions
    from deadheat.measures import Measure

Stratum: TypeAlias = "str | tuple[str, ...]"
"""The value of one column, or a tuple of the values of several."""

NONE = "(none)"  # the value of queries that have none
LEVELS = (("very easy",), ("easy", "low"), ("medium", "moderate"), ("hard", "difficult", "high"), ("very hard",))
"""Words that have an order of their own, of which the alphabet knows nothing."""
NUMBERS = ("mean", "low", "high", "standard_error", "tie_std", "tie_min", "tie_max")
SUMMARY = ("measure", "n_queries", *NUMBERS, "is_small", *KNOWN)
AVERAGES = dict.fromkeys(("micro", "macro"), "Float64") | {"n_strata": "Int64"}
AVERAGES |= dict.fromkeys(("variance", "std"), "Float64") | dict.fromkeys(("lowest", "highest"), "String")
RESERVED = {*SUMMARY, *AVERAGES}  # a stratum column of that name would stand twice in one of the frames


class Strata(Mapping[Stratum, "Evaluation"]):
    """An evaluation of each stratum of queries. Made by :meth:`Evaluation.by`.

    A mapping of stratum to `Evaluation`, in order: levels (easy, medium, hard; low, medium, high) as they rise, then
    numbers by size, then other values by the alphabet, numbers in them by size. Queries without a value in a column are
    in the stratum "(none)", the last one.

    Attributes
    ----------
    columns : tuple of str
        Columns of the queries table.
    smallest : int
    whole : Evaluation
        Of all queries.
    queries : Queries
    small : tuple
        The strata with fewer than `smallest` queries.
    unassigned : tuple of str
        Queries that have no value in a column.
    """

    def __init__(
        self,
        whole: Evaluation,
        masks: Mapping[Stratum, BoolArray],
        columns: Sequence[str],
        queries: Queries,
        smallest: int,
    ) -> None:
        self.columns = tuple(columns)
        self.smallest = smallest
        self.whole = whole
        self.queries = queries
        self._masks = dict(masks)
        self._parts = {stratum: whole.select(keep) for stratum, keep in masks.items()}
        self.small = tuple(stratum for stratum, part in self._parts.items() if len(part.query_ids) < smallest)
        lacking = [part.query_ids.tolist() for stratum, part in self._parts.items() if not is_assigned(stratum)]
        self.unassigned: tuple[str, ...] = tuple(sorted(query for ids in lacking for query in ids))

    def __repr__(self) -> str:
        sizes = "; ".join(f"{label(stratum)}: {len(part.query_ids)}" for stratum, part in self.items())
        return f"<Strata of {self.whole.name} by {', '.join(self.columns)}: {sizes}>"

    def __getitem__(self, stratum: Stratum) -> Evaluation:
        return self._parts[stratum]

    def __iter__(self) -> Iterator[Stratum]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def summary(
        self,
        method: str = "auto",
        *,
        confidence_level: float = 0.95,
        n_resamples: int = 10_000,
        rng: np.random.Generator | int | None = 0,
        cluster: Cluster = None,
    ) -> pl.DataFrame:
        """Return a row for each stratum and measure.

        Parameters
        ----------
        method, confidence_level, n_resamples, rng
            Of the intervals, as for :meth:`Scores.interval`.
        cluster : str, dict or sequence, optional
            As there; a column is one of the queries table.

        Returns
        -------
        polars.DataFrame
            The stratum columns, measure, n_queries (that have a value), mean, low, high, standard_error, tie_std,
            tie_min, tie_max (of the mean over tie orders), is_small, and of the interval ci_method, known and unknown
            (why not; else empty). With one query or none, low, high and standard_error are null, but for the ends of
            "clopper-pearson".
        """
        import polars as pl

        found = self.intervals(
            method=method, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng, cluster=cluster
        )
        rows = [
            (
                *keys_of(stratum),
                str(scores.measure),
                scores.n_queries,
                *(scores.mean, interval.low, interval.high, interval.standard_error),
                *(scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max),
                scores.n_queries < self.smallest,
                *(getattr(interval, attribute) for attribute in KNOWN.values()),
            )
            for stratum, part in self.items()
            for scores, interval in zip(part, found[stratum].values(), strict=True)
        ]
        numbers = dict.fromkeys(NUMBERS, pl.Float64)
        texts = dict.fromkeys([*self.columns, "measure"], pl.String)
        schema: dict[str, Any] = {**texts, "n_queries": pl.Int64, **numbers, "is_small": pl.Boolean}
        schema |= {"ci_method": pl.String, "known": pl.Boolean, "unknown": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))

    def intervals(self, **options: Unpack[IntervalOptions]) -> dict[Stratum, dict[str, Interval]]:
        """Return, for each stratum, a confidence interval of each measure's mean, by its notation.

        Parameters
        ----------
        **options
            As for :meth:`Scores.interval`; by default a column of clusters is one of the queries table.
        """
        table = options.pop("queries", self.queries if isinstance(options.get("cluster"), str) else None)
        codes = cluster_codes(options.get("cluster"), table, self.whole.query_ids)
        found = {}
        for stratum, part in self.items():
            options["cluster"] = None if codes is None else codes[self._masks[stratum]]
            found[stratum] = part.intervals(**options)
        return found

    def averages(self, within: str | None = None) -> pl.DataFrame:
        """Return the averages over strata of each measure, and how far the strata lie apart.

        Parameters
        ----------
        within : str, optional
            One of several stratum columns: averages over the strata that share a value of it, for each value.

        Returns
        -------
        polars.DataFrame
            The column `within` if it is given, measure, micro (mean over all queries), macro (mean over the strata's
            means), n_strata (that have a mean), variance and std (of the strata's means; the divisor is n_strata, as
            in ``np.var``; null for fewer than two), lowest and highest (the strata with these means). Queries in the
            stratum "(none)" count in micro only.
        """
        import polars as pl

        rows = [
            (*shared, str(measure), *self._average(measure, masks, within))
            for shared, masks in self._within(within)
            for measure in self.whole.measures
        ]
        schema: dict[str, Any] = {name: pl.String for name in (within, "measure") if name}
        schema |= {name: getattr(pl, dtype) for name, dtype in AVERAGES.items()}
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))

    def _within(self, column: str | None) -> list[tuple[tuple[str, ...], dict[Stratum, BoolArray]]]:
        """Return the masks of strata that share a value of a column, without it; all, if there is no column."""
        if column is None:
            return [((), self._masks)]
        if column not in self.columns or len(self.columns) < 2:
            allowed = ", ".join(map(repr, self.columns)) if len(self.columns) > 1 else "None for a single column"
            raise ParameterError(
                argument="within", given=column, allowed="one of several stratum columns", hint=f"allowed is {allowed}"
            )
        place = self.columns.index(column)
        found: dict[str, dict[Stratum, BoolArray]] = {}
        for stratum, mask in self._masks.items():
            found.setdefault(stratum[place], {})[stratum] = mask
        return [((value,), found[value]) for value in sorted(found, key=order)]

    def _average(
        self, measure: Measure, masks: Mapping[Stratum, BoolArray], within: str | None
    ) -> tuple[float | str | None, ...]:
        """Return the numbers that `AVERAGES` names, of one measure over some strata."""
        micro = self.whole[measure].select(np.logical_or.reduce(list(masks.values()))).mean
        found = {stratum: self[stratum][measure].mean for stratum in masks if is_assigned(stratum)}
        means = {stratum: mean for stratum, mean in found.items() if not np.isnan(mean)}
        if not means:
            return micro, None, 0, None, None, None, None
        values = np.array(list(means.values()))
        variance = float(np.var(values)) if len(values) > 1 else float("nan")
        ends = [
            label(tuple(key for key, column in zip(keys_of(end), self.columns, strict=True) if column != within))
            for end in (min(means, key=means.__getitem__), max(means, key=means.__getitem__))
        ]
        return micro, float(values.mean()), len(values), variance, variance**0.5, *ends


def stratify(
    evaluation: Evaluation,
    columns: str | Sequence[str],
    queries: Source,
    *,
    smallest: int = SMALLEST,
    pool_languages: bool = False,
) -> Strata:
    """Return an evaluation of each stratum of queries; see :meth:`Evaluation.by`.

    Raises
    ------
    ColumnError
        The table has no such column.
    NoCommonQueryError
        The table has none of the evaluated queries.
    ParameterError
        Another option is out of its range.
    """
    if type(smallest) is not int or smallest < 0:
        raise ParameterError(argument="smallest", given=smallest, allowed="a whole number of queries from 0 on")
    names, table = names_of(columns), Queries.of(queries)
    check_columns(names, table)
    masks = groups(evaluation.query_ids.tolist(), names, table, pool_languages=pool_languages, stacklevel=4)
    return Strata(evaluation, masks, names, table, int(smallest))


def groups(
    query_ids: Iterable[str],
    columns: str | Sequence[str],
    queries: Source,
    *,
    pool_languages: bool = False,
    stacklevel: int = 2,
) -> dict[Stratum, BoolArray]:
    """Tell which queries are in which stratum.

    Parameters
    ----------
    query_ids : iterable of str, shape (n_queries,)
    columns : str or sequence of str
        Columns of the queries table; of several, every combination that occurs is a stratum.
    queries : path, frame or Queries
    pool_languages : bool, default False
        Whether queries of different languages may fall into one stratum; without it that gives a warning.
    stacklevel : int, default 2
        Of warnings, as for :func:`warnings.warn`: 2 is the caller.

    Returns
    -------
    dict of str (of several columns: tuple) to ndarray of bool, shape (n_queries,)
        In the order of :class:`Strata`, the strata "(none)" of queries without a value behind the others.
    """
    ids, names, table = list(query_ids), names_of(columns), Queries.of(queries)
    labels = [table.column(name, ids) for name in names]
    table.check_common(ids)
    if not pool_languages:
        _warn_of_languages(ids, names, table, stacklevel + 1)
    _warn_of_unassigned(ids, names, labels, table, stacklevel + 1)
    rows = list(zip(*([value or NONE for value in column] for column in labels), strict=True))
    found = sorted(set(rows), key=order)
    codes = {values: code for code, values in enumerate(found)}
    of_query = np.array([codes[values] for values in rows], np.int64)
    return {values if len(names) > 1 else values[0]: of_query == code for values, code in codes.items()}


def columns_of(queries: Queries, query_ids: Sequence[str], by: Sequence[str], *, pool_languages: bool) -> list[str]:
    """Return the stratum columns: those that were asked for, behind the language if there are several.

    Raises
    ------
    NoCommonQueryError
        The table has none of the queries, whether it is needed for strata or not.
    """
    queries.check_common(query_ids)
    column = queries.language_column
    if column is None or column in by or pool_languages or len(queries.languages(query_ids)) < 2:
        return list(by)
    return [column, *by]


def names_of(columns: str | Sequence[str]) -> list[str]:
    """Return the names of stratum columns, each once; raise if there are none."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) < len(names):
        raise ParameterError(
            argument="columns", given=columns, allowed="a column of the queries table, or several different ones"
        )
    return names


def check_columns(names: Sequence[str], table: Queries) -> None:
    """Raise `ColumnError` if the table lacks a column, or the result has another one of that name."""
    table.check_columns(names)
    for name in names:
        if name in RESERVED:
            raise ColumnError(
                f"the stratum column {name!r} has the name of a column of the result",
                hint="give it another name",
                path=table.where,
            )


def keys_of(stratum: Stratum) -> tuple[str, ...]:
    """Return the values of a stratum, also of a single column, as a tuple."""
    return (stratum,) if isinstance(stratum, str) else stratum


def label(stratum: Stratum) -> str:
    """Return a stratum as text.

    Examples
    --------
    >>> label("de"), label(("de", "hard"))
    ('de', 'de, hard')
    """
    return ", ".join(keys_of(stratum))


def is_assigned(stratum: Stratum) -> bool:
    """Return whether the queries of a stratum have a value in every column."""
    return NONE not in keys_of(stratum)


def order(stratum: Stratum) -> list[tuple[Any, ...]]:
    """Return what strata are sorted by.

    Examples
    --------
    >>> sorted(["hard", "(none)", "Medium", "k10", "easy", "k9", "10", "9.5"], key=order)
    ['easy', 'Medium', 'hard', '9.5', '10', 'k9', 'k10', '(none)']
    """
    return [_order(key) for key in keys_of(stratum)]


def _order(value: str) -> tuple[Any, ...]:
    """Return what the values of a column are sorted by: levels, numbers, other values, "(none)"."""
    word = " ".join(value.casefold().replace("_", " ").replace("-", " ").split())
    rank = next((place for place, words in enumerate(LEVELS) if word in words), None)
    if rank is not None:
        return 0, rank, value
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", value):
        return 1, float(value), value
    parts = re.split("([0-9]+)", value)
    # a longer number is the larger one; how many digits Python makes an integer of is limited
    parts[1::2] = [f"{len(digits):09}{digits}" for digits in (one.lstrip("0") for one in parts[1::2])]
    return 3 if value == NONE else 2, parts, value


def _warn_of_languages(ids: Sequence[str], names: Sequence[str], table: Queries, stacklevel: int) -> None:
    languages = table.languages(ids)
    if len(languages) < 2 or table.language_column in names:
        return
    warnings.warn(
        f"strata by {', '.join(names)} average over queries in {len(languages)} languages"
        f" ({', '.join(languages)}): pass columns={[table.language_column, *names]!r} to keep them apart,"
        " or pool_languages=True if that is meant",
        MixedLanguagesWarning,
        stacklevel=stacklevel,
    )


def _warn_of_unassigned(
    ids: Sequence[str], names: Sequence[str], labels: Sequence[Sequence[str | None]], table: Queries, stacklevel: int
) -> None:
    lacking = [query for query, *values in zip(ids, *labels, strict=True) if None in values]
    if lacking:
        shown = ", ".join(lacking[:3]) + (", ..." if len(lacking) > 3 else "")
        warnings.warn(
            f"{len(lacking)} of {counted(len(ids), 'query', 'queries')} ({shown}) have no {' or no '.join(names)}"
            f" in {table.where}: they form the stratum {NONE!r}",
            UnlabelledQueriesWarning,
            stacklevel=stacklevel,
        )
