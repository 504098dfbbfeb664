"""exposure(): how much attention the ranks of a run give to each item, and to groups of items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.core.arrays import (
    ArrayLike,
    BoolArray,
    FloatArray,
    IntArray,
    TextArray,
    concatenate_ranges,
    find_codes,
    run_starts,
    sum_by_code,
)
from deadheat.core.checks import as_count, as_level, check_choice
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.intervals import why_unknown
from deadheat.core.evaluation.systems import is_system
from deadheat.core.io.guarding import check_threads
from deadheat.core.kernels import linear
from deadheat.core.measures import DCG
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible, format_count, format_list
from deadheat.plugins.dense.comparing import is_array
from deadheat.plugins.dense.counting import NOTHING, count_dense
from deadheat.plugins.dense.lists import Lists
from deadheat.plugins.recommender.concentration import gini
from deadheat.plugins.recommender.groups import BETWEEN, read_groups
from deadheat.plugins.recommender.item_profile import check_form
from deadheat.plugins.recommender.pairs_of_groups import tabulate_pairs

MOST_GROUPS = 300  # whose pairs are compared: 44,850 take about a second
Discount: TypeAlias = str | Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Exposure(Renderable):
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
        doc_id, exposure (the mean over all queries), with groups group; with judgments target (that of the ideal
        rankings) and of_target (exposure divided by target, null where that is 0), both over queries with a relevant
        item.
    queries : polars.DataFrame
        query_id and the expected exposure of the query by item (EE-D; with judgments EE-R and EE-L) and by group
        (group EE-D, ...); null where the query has no relevant item.
    groups : polars.DataFrame or None
        group, n_items, exposure (of all its items, the mean over all queries), share of all exposure, per_item; with
        judgments target (per_item of the ideal rankings) and of_target, the two divided, over queries with a relevant
        item.
    pairs : polars.DataFrame or None
        Two groups, and over all queries the disparity (per_item of the first less that of the other) and the ratio of
        both, with judgments the ratio of of_target, each with an interval; None of more than 300 groups.
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
        return escape_invisible(f"<Exposure {self.name}: {format_count(len(self.items), 'item')}, {means}>")

    def means(self) -> dict[str, float]:
        """Return the means over queries of `queries`, by name; NaN where no query has a relevant item."""
        return {
            name: np.nan if self.n_judged == 0 else float(np.nanmean(self.queries[name].to_numpy()))
            for name in self.queries.columns[1:]
        }

    @property
    def gini(self) -> float:
        """Gini coefficient of the exposure of the items: 0 if all have the same, near 1 if few have it all."""
        return gini(self.items["exposure"].to_numpy(), self.items.height)

    def to_polars(self) -> pl.DataFrame:
        """Return `items`, the most exposed first."""
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
    ascending: bool = False,
    duplicates: str = "error",
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
        ``{group: [item]}``; of a matrix also a list or an array with the group of each column. An item may be in
        several groups (``a|b``), or in none.
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
    ascending : bool, default False
        Lower scores rank first, as of distances.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`evaluate`; "trust" looks all the same.

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
    given = _runs_of(run)
    of_matrix: dict[str, Any] = {"exclude": exclude, "mask": mask, "query_ids": query_ids, "doc_ids": doc_ids}
    options_of_runs = {"score_precision": score_precision, "ascending": ascending or None}
    check_form(of_matrix, options_of_runs, is_matrix=is_array(given[0]), duplicates=duplicates)
    if qrels is None and target == "relevant":
        raise ParameterError("needs qrels", argument="target", given=target)
    name, notes = "scores", tuple[str, ...]()
    if is_array(given[0]):
        lists, judged = _of_matrices(given, qrels, **of_matrix)
    else:
        runs = [Run.of(one, ascending=ascending, duplicates=duplicates) for one in given]
        lists, judged = _of_runs(runs, qrels, score_precision)
        name, notes = runs[0].name, tuple(dict.fromkeys(note for one in runs for note in one.notes))
    held = {} if groups is None else read_groups(_by_item(groups, lists[0]))
    found = _exposed(lists, judged, held, _weights(discount, cutoff), is_endless=target == "relevant")
    sums = _by_group(found, held) if held else None
    columns, amortised = _expected_exposure(found, sums)
    pairs = None
    if sums is not None and len(held) <= MOST_GROUPS:
        n_items = {group: len(items) for group, items in held.items()}
        pairs = tabulate_pairs(n_items, *sums, found.is_judged if found.has_target else None, confidence_level)
    return Exposure(
        name=run.name if is_system(run) else name,
        discount=discount if isinstance(discount, str) else getattr(discount, "__name__", "a function"),
        cutoff=cutoff,
        n_runs=len(given),
        n_queries=len(found.query_ids),
        n_judged=None if judged is None else int(found.is_judged.sum()),
        items=_items(found, held),
        queries=pl.DataFrame({"query_id": found.query_ids} | columns).with_columns(pl.col(pl.Float64).fill_nan(None)),
        groups=None if sums is None else _shares(found, held, sums),
        pairs=pairs,
        amortised=amortised,
        confidence_level=confidence_level,
        unknown="" if pairs is None else why_unknown(0.0, 1.0, len(found.query_ids), None, "t"),
        notes=(*notes, *_notes(found, lists, held)),
    )


Judged: TypeAlias = tuple[TextArray, TextArray, FloatArray]  # query, item and relevance of each judgment


def _runs_of(given: Any) -> Sequence[Source]:  # noqa: ANN401 - whatever a run may be
    """Return the runs of a stochastic ranker, or one run; a list of rows is one."""
    if is_system(given):
        return given.runs
    is_several = isinstance(given, list | tuple) and given and not any(isinstance(one, tuple | list) for one in given)
    rows = [one for one in given if isinstance(one, Mapping)] if is_several else []
    is_nested = all(isinstance(own, Mapping | list) for one in rows for own in one.values())
    return given if is_several and is_nested else [given]


def _by_item(groups: Source, lists: Lists) -> Source:
    """Return groups by item, if they are a list or an array with that of each column of a matrix."""
    is_list = isinstance(groups, list) and not any(isinstance(one, Mapping | tuple | list) for one in groups)
    if not (is_list or is_array(groups)):
        return groups
    of_columns = np.asarray(groups, object).tolist()
    if lists.depth is None or len(of_columns) != len(lists.doc_ids):
        raise ParameterError(
            argument="groups",
            found=f"an array or a list of {format_count(len(of_columns), 'group')}",
            allowed="a table, {item: group} or {group: [item]}, or of a matrix one for each column",
        )
    return dict(zip(lists.doc_ids.tolist(), of_columns, strict=True))


def _of_matrices(
    matrices: Sequence[Any],
    relevant: Source | None,
    **options: Any,  # noqa: ANN401 - of count_dense
) -> tuple[list[Lists], Judged | None]:
    """Return the lists of matrices of scores, whole, and what is judged."""
    depth = int(matrices[0].shape[-1])
    dense = [count_dense(one, NOTHING if relevant is None else relevant, depth=depth, **options) for one in matrices]
    first, lists = dense[0], [one.lists for one in dense if one.lists is not None]
    return lists, None if relevant is None else (first.query_ids[first.query], first.doc_ids, first.relevance)


def _of_runs(
    runs: Sequence[Run], qrels: Source | None, score_precision: ScorePrecision
) -> tuple[list[Lists], Judged | None]:
    """Return the lists of runs, and what is judged: each pair once, with its highest relevance."""
    judgments = None if qrels is None else Qrels.of(qrels)
    for table in (*runs, judgments):
        if table is not None:
            table.check_duplicates()
    lists = [Lists.of_run(one, score_precision) for one in runs]
    if judgments is None:
        return lists, None
    pairs = judgments.to_polars().group_by("query_id", "doc_id").agg(pl.col("relevance").max())
    pairs = pairs.sort("query_id", "doc_id")
    query, item = (np.array(pairs[name].to_list(), object) for name in ("query_id", "doc_id"))
    return lists, (query, item, pairs["relevance"].to_numpy())


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
                found=f"a function that gives {found.tolist()!r:.60}",
                allowed="one that gives a number from 0 on for each rank",
            )
        return found

    find(1)  # refuses a function that is not a discount, whatever the lists are
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

    def by_item(self, values: FloatArray, which: BoolArray) -> FloatArray:
        """Return the mean over some queries of each item, of shape (n_items,)."""
        rows = which[self.query]
        return sum_by_code(self.item[rows], values[rows], len(self.doc_ids)) / max(int(which.sum()), 1)


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
    query = [find_codes(own.query_ids, query_ids)[own.query] for own in lists]
    item = [find_codes(own.doc_ids, doc_ids)[own.document] for own in lists]
    exposure = [_mean_weight(own.above, own.tied, weights) / len(lists) for own in lists]
    relevance = [np.zeros(len(one)) for one in query]
    if judged is not None:
        query, item = [*query, find_codes(judged[0], query_ids)], [*item, find_codes(judged[1], doc_ids)]
        exposure, relevance = [*exposure, np.zeros(len(judged[2]))], [*relevance, np.maximum(judged[2], 0.0)]
    found, place = np.unique(np.concatenate(query) * len(doc_ids) + np.concatenate(item), return_inverse=True)
    of_query, of_item = np.divmod(found, len(doc_ids))
    own, levels = (sum_by_code(place, np.concatenate(parts), len(found)) for parts in (exposure, relevance))
    target: FloatArray = np.zeros(len(found))
    is_judged: BoolArray = np.ones(len(query_ids), np.bool_)
    if judged is not None:
        is_judged = sum_by_code(of_query, levels, len(query_ids)) > 0
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


def _by_group(found: _Exposed, groups: Mapping[str, Sequence[str]]) -> tuple[FloatArray, FloatArray]:
    """Return exposure and target of groups, the sums over their items, each of shape (n_queries, n_groups)."""
    item = find_codes(np.array([one for items in groups.values() for one in items], object), found.doc_ids)
    order = np.argsort(item, kind="stable")
    group = np.repeat(np.arange(len(groups)), list(map(len, groups.values())))[order]
    # each row counts for every group of its item, whose groups are adjacent
    n_groups = np.bincount(item, minlength=len(found.doc_ids))[found.item]
    of_row = group[concatenate_ranges(np.searchsorted(item[order], found.item), n_groups)]
    cells, n_queries = np.repeat(found.query, n_groups) * len(groups) + of_row, len(found.query_ids)
    exposure, target = (
        sum_by_code(cells, np.repeat(own, n_groups), n_queries * len(groups)).reshape(n_queries, len(groups))
        for own in (found.exposure, found.target)
    )
    return exposure, target


def _expected_exposure(
    found: _Exposed, sums: tuple[FloatArray, FloatArray] | None
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return EE by query, NaN without a relevant item, and that of the means over queries."""
    names, which = ("EE-D", "EE-R", "EE-L") if found.has_target else ("EE-D",), found.is_judged
    own, target = found.exposure, found.target
    sums_by_query = (sum_by_code(found.query, one, len(which)) for one in (own**2, own * target, (own - target) ** 2))
    by_query = dict(zip(names, sums_by_query, strict=False))
    amortised = dict(zip(names, _of_vectors(found.by_item(own, which), found.by_item(target, which)), strict=False))
    if sums is not None:
        named = [f"group {name}" for name in names]
        by_query |= dict(zip(named, _of_vectors(*sums), strict=False))
        averaged = _of_vectors(*(one[which].sum(axis=0) / max(int(which.sum()), 1) for one in sums))
        amortised |= dict(zip(named, averaged, strict=False))
    columns = {name: np.where(which, one, np.nan) for name, one in by_query.items()}
    return columns, {name: float(one) if which.any() else np.nan for name, one in amortised.items()}


def _of_vectors(exposure: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return EE-D, EE-R and EE-L of vectors, which are along the last axis."""
    return (exposure**2).sum(axis=-1), (exposure * target).sum(axis=-1), ((exposure - target) ** 2).sum(axis=-1)


def _items(found: _Exposed, groups: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a row for each item."""
    every = np.ones(len(found.query_ids), np.bool_)
    columns: dict[str, Any] = {"doc_id": found.doc_ids, "exposure": found.by_item(found.exposure, every)}
    if found.has_target:
        exposure = found.by_item(found.exposure, found.is_judged)
        target = found.by_item(found.target, found.is_judged)
        ratio: FloatArray = np.full(len(target), np.nan)
        np.divide(exposure, target, out=ratio, where=target > 0)
        columns["target"] = target
        columns["of_target"] = pl.Series(ratio).fill_nan(None)
    if groups:
        of_item = group_values((one, group) for group, items in groups.items() for one in items)
        columns["group"] = [BETWEEN.join(of_item[one]) if one in of_item else None for one in found.doc_ids]
    return pl.DataFrame(columns, schema_overrides={"group": pl.String} if groups else {})


def _shares(found: _Exposed, groups: Mapping[str, Sequence[str]], sums: tuple[FloatArray, FloatArray]) -> pl.DataFrame:
    """Return a row for each group."""
    exposure, sizes = sums[0].mean(axis=0), np.array(list(map(len, groups.values())))
    whole = found.exposure.sum() / len(found.query_ids)
    columns: dict[str, Any] = {
        "group": list(groups),
        "n_items": sizes,
        "exposure": exposure,
        "share": exposure / whole if whole else np.full(len(exposure), np.nan),
        "per_item": exposure / sizes,
    }
    if found.has_target:
        with np.errstate(divide="ignore", invalid="ignore"):
            own, target = (one[found.is_judged].sum(axis=0) / found.is_judged.sum() for one in sums)
            columns |= {"target": target / sizes, "of_target": own / target}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def _notes(found: _Exposed, lists: Sequence[Lists], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is to be said of the data; raise if their ids have nothing in common."""
    notes, shown = [], {one for own in lists for one in own.doc_ids}
    if n_missing := len(found.query_ids) - len({one for own in lists for one in own.query_ids}):
        notes.append(f"not in the run: {format_count(n_missing, 'query', 'queries')} of the judgments; empty lists")
    if found.has_target and not found.is_judged.all():
        n_without = int((~found.is_judged).sum())
        notes.append(f"{format_count(n_without, 'query', 'queries')} without a relevant item: no expected exposure")
    if len(groups) > MOST_GROUPS:
        notes.append(f"{format_count(len(groups), 'group')}, more than {MOST_GROUPS}: pairs of them are not compared")
    if groups:
        grouped = set().union(*groups.values())
        if shown.isdisjoint(grouped):
            raise DataError(
                f"no item of the groups ({format_list(sorted(grouped))}) is in the run ({format_list(sorted(shown))})"
            )
        if lacking := len(shown - grouped):
            notes.append(
                f"{lacking:,} of {format_count(len(shown), 'item')} in the run have no group, and count in none"
            )
    return notes
