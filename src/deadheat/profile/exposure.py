"""exposure(): how much attention each item gets, exactly where scores tie, and how it is shared between groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl

from deadheat.arrays import ArrayLike, BoolArray, FloatArray, IntArray, TextArray, run_starts, sums_of
from deadheat.data.known_ids import BETWEEN, read_groups
from deadheat.data.rows import ScorePrecision
from deadheat.data.shown import Numbers, Shown
from deadheat.data.tables import Qrels, Run, Source, check_each
from deadheat.errors import (
    DataError,
    ParameterError,
    Plain,
    as_count,
    as_level,
    check_choice,
    collected,
    counted,
    three,
)
from deadheat.evaluation.intervals import why_unknown
from deadheat.evaluation.repeats import Repeats
from deadheat.io.guarding import check_threads
from deadheat.kernels import linear
from deadheat.measures import DCG
from deadheat.placements.comparing import is_array
from deadheat.placements.dense import NOTHING, count_dense
from deadheat.placements.lists import Lists, codes_of
from deadheat.profile.items import gini
from deadheat.stats.intervals import interval_bounds, jackknife_bounds

Discount: TypeAlias = str | Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Exposure(Shown):
    """How much attention each item and group gets. Made by :func:`exposure`.

    Attributes
    ----------
    name : str
        Of the run.
    discount : str
        The weight of a rank.
    cutoff : int or None
    n_runs : int
        Runs whose mean it is.
    n_queries : int
        All queries: of `items`, `groups` and `pairs`.
    n_judged : int or None
        Queries with a relevant item, over which expected exposure is averaged; None without judgments, then all.
    items : polars.DataFrame
        doc_id, exposure (the mean over all queries), with judgments target, with groups group.
    queries : polars.DataFrame
        query_id and the expected exposure of the query by item (EE-D; with judgments EE-R and EE-L) and by group
        (group EE-D, ...); null where the query has no relevant item.
    groups : polars.DataFrame or None
        group, n_items, exposure (of all its items, the mean over all queries), share of all exposure, per_item; with
        judgments target (per_item of the ideal rankings) and of_target, the two divided, over queries with a relevant
        item.
    pairs : polars.DataFrame or None
        Two groups, and over all queries the disparity (per_item of the first less that of the other) and the ratio of
        both, with judgments the ratio of of_target, each with an interval.
    amortised : dict of str to float
        Expected exposure of the means over queries: what one query owes to an item another can give.
    confidence_level : float
    unknown : str
        Why the intervals say nothing about other queries; empty if they do.
    notes : tuple of str
    """

    name: str
    discount: str
    cutoff: int | None
    n_runs: int
    n_queries: int
    n_judged: int | None
    items: pl.DataFrame = field(repr=False)
    queries: pl.DataFrame = field(repr=False)
    groups: pl.DataFrame | None = field(repr=False)
    pairs: pl.DataFrame | None = field(repr=False)
    amortised: dict[str, float] = field(repr=False)
    confidence_level: float = 0.95
    unknown: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.means().items())
        return f"<Exposure {self.name}: {counted(len(self.items), 'item')}, {means}>"

    def means(self) -> dict[str, float]:
        """Return the means over queries of `queries`, by name."""
        return {name: float(np.nanmean(self.queries[name].to_numpy())) for name in self.queries.columns[1:]}

    @property
    def gini(self) -> float:
        """Gini coefficient of the exposure of the items: 0 if all have the same, near 1 if few have it all."""
        exposure = self.items["exposure"].to_numpy()
        return gini(exposure, len(exposure))

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each item, the most exposed first: doc_id, exposure, and target and group if known."""
        check_threads()
        return self.items.sort("exposure", "doc_id", descending=[True, False])

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((name,), number) for name, number in self.means().items())
        yield from ((("amortised", name), number) for name, number in self.amortised.items())
        yield ("gini",), self.gini
        for frame, labels in ((self.groups, ("group",)), (self.pairs, ("group", "other"))):
            for row in () if frame is None else frame.iter_rows(named=True):
                own = tuple(row.pop(one) for one in labels)
                yield from (((*own, name), number) for name, number in row.items() if number is not None)


def exposure(
    run: Source | Sequence[Source],
    qrels: Source | None = None,
    groups: Source | None = None,
    discount: Discount = "log(2)",
    *,
    cutoff: int | None = None,
    target: str = "all",
    confidence_level: float = 0.95,
    exclude: object = None,
    mask: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    ascending: bool = False,
) -> Exposure:
    r"""Return the exposure of items and groups of items: what attention their ranks get, exactly where scores tie.

    The exposure of an item in a list is the discount of its rank; among equal scores the mean discount of the ranks of
    the tie, which is that over all its orders. With judgments it is held against the exposure in ideal rankings, in
    which items of equal relevance take turns:

    .. math:: \text{EE-D} = \|\epsilon\|^2, \quad \text{EE-R} = \epsilon \cdot \epsilon^*, \quad
        \text{EE-L} = \|\epsilon - \epsilon^*\|^2 = \text{EE-D} - 2\,\text{EE-R} + \|\epsilon^*\|^2

    with :math:`\epsilon` the expected exposures of a query's items and :math:`\epsilon^*` those in ideal rankings; by
    group both are sums over the group's items.

    Parameters
    ----------
    run : path, dict, dataframe, Run or array of shape (n_queries, n_documents); or Repeats, or a list of these
        Several runs are samples of a stochastic ranker: exposure is the mean over them.
    qrels : path, dict, dataframe or Qrels, optional
        Judgments; of a matrix what :func:`evaluate_dense` takes as `relevant`. Queries that the run lacks count as
        empty lists; those without a relevant item have no EE.
    groups : path, dict or dataframe, optional
        The group of each item: a table with a column of items and a column ``group``, ``{item: group}`` or
        ``{group: [item]}``. An item may be in several groups (``a|b``), or in none.
    discount : str or callable, default "log(2)"
        The weight of a rank, as for `DCG`: ``"log(2)"``, ``"linear"``, ``"zipf(s, p)"``, ``"exp(p)"``, which is p^i,
        or ``"none"``; or a function of an array of ranks, such as ``lambda rank: 0.5 ** (rank - 1)``, which is that of
        Diaz et al.
    cutoff : int, optional
        Ranks that are looked at; by default all.
    target : {"all", "relevant"}, default "all"
        Which items ideal rankings expose: all of the query that are retrieved or judged, the relevant ones first, as
        in the paper; or only relevant ones, as if the collection had no end (expeval, without -C).
    confidence_level : float, default 0.95
        Of the intervals over queries: of disparities by Student's t, of ratios by leaving out each query once, on a
        logarithmic scale.
    exclude, mask, query_ids, doc_ids : optional
        Of a matrix, as for :func:`evaluate_dense`.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to this many decimals.
    check_duplicates : bool, default True
        Whether to look for (query, item) pairs that appear twice.
    ascending : bool, default False
        Lower scores rank first, as of distances.

    Returns
    -------
    Exposure

    Raises
    ------
    ParameterError
        A parameter is out of its range, or a group has no items.
    DataError
        No item of the groups, or no query of the judgments, is in the run.

    References
    ----------
    Diaz et al. 2020, https://doi.org/10.1145/3340531.3411962, and expeval, https://github.com/diazf/expeval; between
    groups: Singh and Joachims 2018, https://doi.org/10.1145/3219819.3220088; amortised: Biega et al. 2018,
    https://doi.org/10.1145/3209978.3210063.

    Examples
    --------
    >>> found = exposure({"q": {"a": 2, "b": 1, "c": 1}}, {"q": {"a": 1, "b": 1}}, discount="linear")
    >>> found.to_polars().select("doc_id", "exposure").rows()
    [('a', 1.0), ('b', 0.41666666666666663), ('c', 0.41666666666666663)]
    >>> {name: round(value, 4) for name, value in found.means().items()}
    {'EE-D': 1.3472, 'EE-R': 1.2014, 'EE-L': 0.1806}
    """
    check_choice("target", target, ("all", "relevant"))
    cutoff = None if cutoff is None else as_count("cutoff", cutoff)
    confidence_level = as_level("confidence_level", confidence_level)
    given, judged, notes = _runs_of(run), None, tuple[str, ...]()
    name = run.name if isinstance(run, Repeats) else "scores"
    if is_array(given[0]):
        of_matrix: dict[str, Any] = {"exclude": exclude, "mask": mask, "query_ids": query_ids, "doc_ids": doc_ids}
        relevant, depth = NOTHING if qrels is None else qrels, int(cast("Any", given[0]).shape[-1])
        counted = [count_dense(one, relevant, depth=depth, **of_matrix) for one in given]
        lists = [one.lists for one in counted if one.lists is not None]
        if qrels is not None:
            judged = counted[0].query_ids[counted[0].query], counted[0].doc_ids, counted[0].relevance
    else:
        runs = [Run.of(one, ascending=ascending) for one in given]
        judgments = None if qrels is None else Qrels.of(qrels)
        check_each(*runs, judgments, is_asked=check_duplicates)
        lists = [Lists.of_run(one, score_precision) for one in runs]
        judged = None if judgments is None else _judged(judgments)
        name = name if isinstance(run, Repeats) else runs[0].name
        notes = tuple(dict.fromkeys(note for one in runs for note in one.notes))
    held = {} if groups is None else read_groups(groups)
    found = _exposed(lists, judged, held, _weights(discount, cutoff), is_endless=target == "relevant")
    among = _Groups.of(held, found)
    columns, amortised = _expected_exposure(found, among)
    pairs = None if among is None else _pairs(found, among, confidence_level)
    return Exposure(
        name=name,
        discount=discount if isinstance(discount, str) else getattr(discount, "__name__", "a function"),
        cutoff=cutoff,
        n_runs=len(given),
        n_queries=len(found.query_ids),
        n_judged=None if judged is None else int(found.is_judged.sum()),
        items=_items(found, held),
        queries=pl.DataFrame({"query_id": found.query_ids} | columns).with_columns(pl.col(pl.Float64).fill_nan(None)),
        groups=None if among is None else _shares(found, among),
        pairs=pairs,
        amortised=amortised,
        confidence_level=confidence_level,
        unknown="" if pairs is None else why_unknown(0.0, 1.0, len(found.query_ids), None, "t"),
        notes=(*notes, *_notes(found, lists, held)),
    )


Judged: TypeAlias = "tuple[TextArray, TextArray, FloatArray]"
"""Query, item and relevance of each judgment."""


def _runs_of(given: Any) -> Sequence[Source]:  # noqa: ANN401 - whatever a run may be
    """Return the runs of a stochastic ranker, or one run; a list of rows is one."""
    if isinstance(given, Repeats):
        return given.runs
    is_several = isinstance(given, list | tuple) and given and not any(isinstance(one, tuple | list) for one in given)
    rows = [one for one in given if isinstance(one, Mapping)] if is_several else []
    is_nested = all(isinstance(own, Mapping | list) for one in rows for own in one.values())
    return given if is_several and is_nested else [given]


def _judged(qrels: Qrels) -> Judged:
    rows = qrels.to_polars().group_by("query_id", "doc_id").agg(pl.col("relevance").max()).sort("query_id", "doc_id")
    query, item = (np.array(rows[name].to_list(), object) for name in ("query_id", "doc_id"))
    return query, item, rows["relevance"].to_numpy()


def _weights(discount: Discount, cutoff: int | None) -> Callable[[int], FloatArray]:
    """Return a function that gives the weights of the first ranks."""

    def find(n_ranks: int) -> FloatArray:
        size = n_ranks if cutoff is None else min(n_ranks, cutoff)
        if isinstance(discount, str):
            return DCG(discount=discount).weights(size)
        found = np.asarray(discount(np.arange(1.0, size + 1)), np.float64)
        if found.shape != (size,) or not (np.isfinite(found) & (found >= 0)).all():
            raise ParameterError(
                argument="discount",
                given=Plain(f"a function that gives {found.tolist()!r:.60}"),
                allowed="one that gives a number from 0 on for each rank",
            )
        return found

    find(1)  # refuses what is no discount, whatever the lists are
    return find


@dataclass(frozen=True, eq=False)
class _Exposed:
    """The exposure of each item that a query retrieves or judges.

    Attributes
    ----------
    query_ids, doc_ids : list of str
        All queries and items, sorted.
    query, item : ndarray of int, shape (n_rows,)
        Indices into both.
    exposure, target : ndarray of float, shape (n_rows,)
        Of the runs, and of ideal rankings.
    is_judged : ndarray of bool, shape (n_queries,)
        Which queries have a relevant item; all of them without judgments.
    has_target : bool
        Whether there are judgments.
    """

    query_ids: list[str]
    doc_ids: list[str]
    query: IntArray
    item: IntArray
    exposure: FloatArray
    target: FloatArray
    is_judged: BoolArray
    has_target: bool

    def by_query(self, values: FloatArray) -> FloatArray:
        """Return the sum of each query, of shape (n_queries,)."""
        return sums_of(self.query, values, len(self.query_ids))

    def by_item(self, values: FloatArray, which: BoolArray) -> FloatArray:
        """Return the mean over some queries of each item, of shape (n_items,)."""
        rows = which[self.query]
        return sums_of(self.item[rows], values[rows], len(self.doc_ids)) / max(int(which.sum()), 1)


def _exposed(
    lists: Sequence[Lists],
    judged: Judged | None,
    groups: Mapping[str, Sequence[str]],
    weights: Callable[[int], FloatArray],
    *,
    is_endless: bool,
) -> _Exposed:
    """Return the mean exposure over runs, and that of ideal rankings of what they retrieve or what is judged."""
    others = () if judged is None else judged[:2]
    query_ids = sorted({one for own in lists for one in own.query_ids}.union(*others[:1]))
    doc_ids = sorted({one for own in lists for one in own.doc_ids}.union(*others[1:], *groups.values()))
    query = [codes_of(own.query_ids, query_ids)[own.query] for own in lists]
    item = [codes_of(own.doc_ids, doc_ids)[own.document] for own in lists]
    exposure = [_mean_weight(own.above, own.tied, weights) / len(lists) for own in lists]
    relevance = [np.zeros(len(one)) for one in query]
    if judged is not None:
        query, item = [*query, codes_of(judged[0], query_ids)], [*item, codes_of(judged[1], doc_ids)]
        exposure, relevance = [*exposure, np.zeros(len(judged[2]))], [*relevance, np.maximum(judged[2], 0.0)]
    found, place = np.unique(np.concatenate(query) * len(doc_ids) + np.concatenate(item), return_inverse=True)
    of_query, of_item = np.divmod(found, len(doc_ids))
    own, levels = (sums_of(place, np.concatenate(parts), len(found)) for parts in (exposure, relevance))
    target: FloatArray = np.zeros(len(found))
    is_judged: BoolArray = np.ones(len(query_ids), np.bool_)
    if judged is not None:
        is_judged = sums_of(of_query, levels, len(query_ids)) > 0
        target = _ideal(of_query, levels, weights) * (levels > 0 if is_endless else is_judged[of_query])
    return _Exposed(query_ids, doc_ids, of_query, of_item, own, target, is_judged, judged is not None)


def _mean_weight(above: IntArray, tied: IntArray, weights: Callable[[int], FloatArray]) -> FloatArray:
    """Return the mean weight of the ranks of the tie of each row."""
    own = weights(int((above + tied).max(initial=1)))
    return linear.mean(above, tied, np.clip(len(own) - above, 0, tied), np.ones(len(above)), weights=own)


def _ideal(query: IntArray, relevance: FloatArray, weights: Callable[[int], FloatArray]) -> FloatArray:
    """Return the exposure of each row in rankings by relevance, in which equally relevant items are tied."""
    order = np.lexsort((-relevance, query))
    starts, of_query = run_starts(query[order], relevance[order]), run_starts(query[order])
    tied = np.diff(starts, append=len(order))
    above = starts - of_query[np.searchsorted(of_query, starts, "right") - 1]
    found = np.empty(len(order))
    found[order] = np.repeat(_mean_weight(above, tied, weights), tied)
    return found


@dataclass(frozen=True, eq=False)
class _Groups:
    """Exposure by group.

    Attributes
    ----------
    names : list of str
    sizes : ndarray of int, shape (n_groups,)
        Items of each.
    exposure, target : ndarray of float, shape (n_queries, n_groups)
        Sums over their items.
    """

    names: list[str]
    sizes: IntArray
    exposure: FloatArray
    target: FloatArray

    @classmethod
    def of(cls, groups: Mapping[str, Sequence[str]], found: _Exposed) -> _Groups | None:
        """Return the sums over groups; None without groups."""
        if not groups:
            return None
        sums = []
        for items in groups.values():
            is_in = np.zeros(len(found.doc_ids))
            is_in[codes_of(np.array(items, object), found.doc_ids)] = 1
            sums.append([found.by_query(own * is_in[found.item]) for own in (found.exposure, found.target)])
        exposure, target = np.array(sums).transpose(1, 2, 0)
        return cls(list(groups), np.array([len(items) for items in groups.values()]), exposure, target)


def _expected_exposure(found: _Exposed, groups: _Groups | None) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return EE by query, NaN without a relevant item, and that of the means over queries."""
    names, which = ("EE-D", "EE-R", "EE-L") if found.has_target else ("EE-D",), found.is_judged
    own, target = found.exposure, found.target
    by_query = dict(zip(names, map(found.by_query, (own**2, own * target, (own - target) ** 2)), strict=False))
    means = [found.by_item(one, which) for one in (own, target)]
    amortised = dict(zip(names, _of_vectors(*means), strict=False))
    if groups is not None:
        by_query |= {
            f"group {name}": one for name, one in zip(names, _of_vectors(groups.exposure, groups.target), strict=False)
        }
        averaged = _of_vectors(*(one[which].mean(axis=0) for one in (groups.exposure, groups.target)))
        amortised |= {f"group {name}": one for name, one in zip(names, averaged, strict=False)}
    columns = {name: np.where(which, one, np.nan) for name, one in by_query.items()}
    return columns, {name: float(one) for name, one in amortised.items()}


def _of_vectors(exposure: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return EE-D, EE-R and EE-L of vectors, which are along the last axis."""
    return (exposure**2).sum(axis=-1), (exposure * target).sum(axis=-1), ((exposure - target) ** 2).sum(axis=-1)


def _items(found: _Exposed, groups: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a row for each item."""
    every = np.ones(len(found.query_ids), np.bool_)
    columns: dict[str, Any] = {"doc_id": found.doc_ids, "exposure": found.by_item(found.exposure, every)}
    if found.has_target:
        columns["target"] = found.by_item(found.target, every)
    if groups:
        of_item = collected((one, group) for group, items in groups.items() for one in items)
        columns["group"] = [BETWEEN.join(of_item[one]) if one in of_item else None for one in found.doc_ids]
    return pl.DataFrame(columns, schema_overrides={"group": pl.String} if groups else {})


def _shares(found: _Exposed, groups: _Groups) -> pl.DataFrame:
    """Return a row for each group."""
    exposure = groups.exposure.mean(axis=0)
    whole = found.exposure.sum() / len(found.query_ids)
    columns: dict[str, Any] = {
        "group": groups.names,
        "n_items": groups.sizes,
        "exposure": exposure,
        "share": exposure / whole if whole else np.full(len(exposure), np.nan),
        "per_item": exposure / groups.sizes,
    }
    if found.has_target:
        own, target = (one[found.is_judged].mean(axis=0) for one in (groups.exposure, groups.target))
        with np.errstate(divide="ignore", invalid="ignore"):
            columns |= {"target": target / groups.sizes, "of_target": own / target}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def _pairs(found: _Exposed, groups: _Groups, confidence_level: float) -> pl.DataFrame | None:
    """Return a row for each two groups: how far their exposure differs, with intervals over queries."""
    places = list(combinations(range(len(groups.names)), 2))
    if not places:
        return None
    per_item = groups.exposure / groups.sizes
    own, target = (one[found.is_judged] for one in (groups.exposure, groups.target))
    differences = np.stack([per_item[:, a] - per_item[:, b] for a, b in places], axis=1)
    ends = interval_bounds(differences, method="t", confidence_level=confidence_level)
    rows = []
    for n, (a, b) in enumerate(places):
        row: dict[str, Any] = {"group": groups.names[a], "other": groups.names[b]}
        row |= {"disparity": float(differences[:, n].mean()), "low": float(ends[0][n]), "high": float(ends[1][n])}
        parts = {"ratio": _ratio(per_item[:, [a]], per_item[:, [b]], confidence_level)}
        if found.has_target:
            up, down = np.stack([own[:, a], target[:, b]], axis=1), np.stack([own[:, b], target[:, a]], axis=1)
            parts["ratio_of_target"] = _ratio(up, down, confidence_level)
        for name, numbers in parts.items():
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))
        rows.append(row)
    return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))


def _ratio(up: FloatArray, down: FloatArray, confidence_level: float) -> tuple[float, float, float]:
    """Return the product of the sums of some columns over that of others, with an interval over the rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = float(np.log(up.sum(axis=0)).sum() - np.log(down.sum(axis=0)).sum())
        left = sum(sign * np.log(one.sum(axis=0) - one).sum(axis=1) for sign, one in ((1, up), (-1, down)))
    ends = (np.nan, np.nan)
    if np.isfinite(left).all():  # else a group has exposure in one query alone, or in none
        ends = jackknife_bounds(whole, left, confidence_level)
    return tuple(float(np.exp(one)) for one in (whole, *ends))  # type: ignore[return-value]  # of three


def _notes(found: _Exposed, lists: Sequence[Lists], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is to be said of the data; raise if their ids have nothing in common."""
    notes, shown = [], {one for own in lists for one in own.doc_ids}
    if n_missing := len(found.query_ids) - len({one for own in lists for one in own.query_ids}):
        notes.append(f"not in the run: {counted(n_missing, 'query', 'queries')} of the judgments; empty lists")
    if found.has_target and not found.is_judged.all():
        n = int((~found.is_judged).sum())
        notes.append(f"{counted(n, 'query', 'queries')} without a relevant item: no expected exposure")
    if groups:
        grouped = set().union(*groups.values())
        if shown.isdisjoint(grouped):
            raise DataError(f"no item of the groups ({three(sorted(grouped))}) is in the run ({three(sorted(shown))})")
        if lacking := len(shown - grouped):
            notes.append(f"{lacking:,} of {counted(len(shown), 'item')} in the run have no group, and count in none")
    return notes
