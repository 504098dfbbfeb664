"""The exposure of each item in each query, beside that in ideal rankings; its sums over groups; expected exposure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    TextArray,
    concatenate_ranges,
    find_codes,
    run_starts,
    sum_by_code,
)
from deadheat.core.kernels import linear
from deadheat.plugins.dense.lists import Lists
from deadheat.plugins.recommender.groups import BETWEEN


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Judgments, of shape (n_judgments,) each; each pair once.

    Attributes
    ----------
    query_ids, doc_ids : ndarray of str
    relevance : ndarray of float
    """

    query_ids: TextArray
    doc_ids: TextArray
    relevance: FloatArray


@dataclass(frozen=True, eq=False)
class ExposedItems:
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

    def average(self, values: FloatArray, is_counted: BoolArray) -> FloatArray:
        """Return the mean of each item over some queries, of shape (n_items,)."""
        rows = is_counted[self.query]
        sums = sum_by_code(self.item[rows], values[rows], len(self.doc_ids))
        return sums / max(int(is_counted.sum()), 1)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over the items of groups, of shape (n_queries, n_groups) each.

    Attributes
    ----------
    exposure, target : ndarray of float
        Of the runs, and of ideal rankings.
    """

    exposure: FloatArray
    target: FloatArray


@dataclass(frozen=True, eq=False)
class ExpectedExposure:
    """EE-D, and with judgments EE-R and EE-L, by name; also of groups, as "group EE-D".

    Attributes
    ----------
    by_query : dict of str to ndarray of float, shape (n_queries,)
        NaN for a query without a relevant item.
    amortised : dict of str to float
        Of the means over queries.
    """

    by_query: dict[str, FloatArray]
    amortised: dict[str, float]


def find_exposed_items(
    lists: Sequence[Lists],
    judgments: JudgedItems | None,
    groups: Mapping[str, Sequence[str]],
    weigh_ranks: Callable[[int], FloatArray],
    *,
    is_endless: bool,
) -> ExposedItems:
    """Return the mean exposure over runs, and that of ideal rankings.

    Parameters
    ----------
    lists : sequence of Lists
        Of each run.
    judgments : JudgedItems or None
    groups : mapping of str to sequence of str
        The items of each group; those that no run retrieves count, too.
    weigh_ranks : callable
        Takes a number of ranks and returns the weights of the first ones, at most as many.
    is_endless : bool
        Whether ideal rankings expose relevant items alone; else, below them, all that are retrieved or judged.
    """
    all_queries: set[str] = set().union(*(listed.query_ids for listed in lists))
    all_items: set[str] = set().union(*(listed.doc_ids for listed in lists), *groups.values())
    if judgments is not None:
        all_queries.update(judgments.query_ids)
        all_items.update(judgments.doc_ids)
    query_ids, doc_ids = sorted(all_queries), sorted(all_items)
    queries: list[IntArray] = []
    items: list[IntArray] = []
    exposures: list[FloatArray] = []
    levels: list[FloatArray] = []
    for listed in lists:
        queries.append(find_codes(listed.query_ids, query_ids)[listed.query])
        items.append(find_codes(listed.doc_ids, doc_ids)[listed.document])
        exposures.append(_average_weights(listed.above, listed.tied, weigh_ranks) / len(lists))
        levels.append(np.zeros(len(listed.query)))
    if judgments is not None:
        queries.append(find_codes(judgments.query_ids, query_ids))
        items.append(find_codes(judgments.doc_ids, doc_ids))
        exposures.append(np.zeros(len(judgments.relevance)))
        levels.append(np.maximum(judgments.relevance, 0.0))
    pair = np.concatenate(queries) * len(doc_ids) + np.concatenate(items)
    distinct_pairs, row = np.unique(pair, return_inverse=True)
    query, item = np.divmod(distinct_pairs, len(doc_ids))
    exposure = sum_by_code(row, np.concatenate(exposures), len(distinct_pairs))
    relevance = sum_by_code(row, np.concatenate(levels), len(distinct_pairs))
    target: FloatArray = np.zeros(len(distinct_pairs))
    is_judged: BoolArray = np.ones(len(query_ids), np.bool_)
    if judgments is not None:
        is_judged = sum_by_code(query, relevance, len(query_ids)) > 0
        has_ideal_rank = relevance > 0 if is_endless else is_judged[query]
        target = _find_target(query, relevance, weigh_ranks) * has_ideal_rank
    return ExposedItems(query_ids, doc_ids, query, item, exposure, target, is_judged, judgments is not None)


def _average_weights(above: IntArray, tied: IntArray, weigh_ranks: Callable[[int], FloatArray]) -> FloatArray:
    """Return the mean weight of the ranks of the tie of each row."""
    weights = weigh_ranks(int((above + tied).max(initial=1)))
    n_weighted = np.clip(len(weights) - above, 0, tied)
    return linear.mean(above, tied, n_weighted, np.ones(len(above)), weights=weights)


def _find_target(query: IntArray, relevance: FloatArray, weigh_ranks: Callable[[int], FloatArray]) -> FloatArray:
    """Return the exposure of each row in rankings by relevance, in which equally relevant items are tied."""
    order = np.lexsort((-relevance, query))
    tie_starts = run_starts(query[order], relevance[order])
    query_starts = run_starts(query[order])
    tied = np.diff(tie_starts, append=len(order))
    query_of_tie = np.searchsorted(query_starts, tie_starts, "right") - 1
    above = tie_starts - query_starts[query_of_tie]
    target = np.empty(len(order))
    target[order] = np.repeat(_average_weights(above, tied, weigh_ranks), tied)
    return target


def sum_over_groups(exposed: ExposedItems, groups: Mapping[str, Sequence[str]]) -> GroupSums:
    """Return exposure and target of groups, the sums over their items."""
    members = [doc_id for doc_ids in groups.values() for doc_id in doc_ids]
    sizes = [len(doc_ids) for doc_ids in groups.values()]
    item = find_codes(np.array(members, object), exposed.doc_ids)
    order = np.argsort(item, kind="stable")
    group = np.repeat(np.arange(len(groups)), sizes)[order]
    # each row counts for every group of its item, whose groups are adjacent
    n_groups_of_row = np.bincount(item, minlength=len(exposed.doc_ids))[exposed.item]
    first_group = np.searchsorted(item[order], exposed.item)
    group_of_entry = group[concatenate_ranges(first_group, n_groups_of_row)]
    cell = np.repeat(exposed.query, n_groups_of_row) * len(groups) + group_of_entry
    shape = len(exposed.query_ids), len(groups)
    n_cells = shape[0] * shape[1]
    exposure = sum_by_code(cell, np.repeat(exposed.exposure, n_groups_of_row), n_cells)
    target = sum_by_code(cell, np.repeat(exposed.target, n_groups_of_row), n_cells)
    return GroupSums(exposure.reshape(shape), target.reshape(shape))


def compute_expected_exposure(exposed: ExposedItems, sums: GroupSums | None) -> ExpectedExposure:
    """Return expected exposure by query, and that of the means over queries; by group, too, given its sums."""
    is_judged, n_judged = exposed.is_judged, int(exposed.is_judged.sum())
    by_query = _compare_by_query(exposed)
    mean_exposure = exposed.average(exposed.exposure, is_judged)
    mean_target = exposed.average(exposed.target, is_judged)
    amortised = _compare_vectors(mean_exposure, mean_target, has_target=exposed.has_target)
    if sums is not None:
        by_group = _compare_vectors(sums.exposure, sums.target, has_target=exposed.has_target)
        by_query |= {f"group {name}": values for name, values in by_group.items()}
        mean_exposure = sums.exposure[is_judged].sum(axis=0) / max(n_judged, 1)
        mean_target = sums.target[is_judged].sum(axis=0) / max(n_judged, 1)
        amortised_by_group = _compare_vectors(mean_exposure, mean_target, has_target=exposed.has_target)
        amortised |= {f"group {name}": value for name, value in amortised_by_group.items()}
    columns = {name: np.where(is_judged, values, np.nan) for name, values in by_query.items()}
    if not n_judged:
        return ExpectedExposure(columns, dict.fromkeys(amortised, np.nan))
    return ExpectedExposure(columns, {name: float(value) for name, value in amortised.items()})


def _compare_by_query(exposed: ExposedItems) -> dict[str, FloatArray]:
    """Return EE-D, and with judgments EE-R and EE-L, of each query."""
    query, n_queries = exposed.query, len(exposed.query_ids)
    exposure, target = exposed.exposure, exposed.target
    values = {"EE-D": sum_by_code(query, exposure**2, n_queries)}
    if exposed.has_target:
        values["EE-R"] = sum_by_code(query, exposure * target, n_queries)
        values["EE-L"] = sum_by_code(query, (exposure - target) ** 2, n_queries)
    return values


def _compare_vectors(exposure: FloatArray, target: FloatArray, *, has_target: bool) -> dict[str, FloatArray]:
    """Return EE-D, and with judgments EE-R and EE-L, of vectors, which are along the last axis."""
    values = {"EE-D": (exposure**2).sum(axis=-1)}
    if has_target:
        values["EE-R"] = (exposure * target).sum(axis=-1)
        values["EE-L"] = ((exposure - target) ** 2).sum(axis=-1)
    return values


def tabulate_items(exposed: ExposedItems, groups: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a row for each item, as `Exposure.items`."""
    is_any = np.ones(len(exposed.query_ids), np.bool_)
    columns: dict[str, Any] = {"doc_id": exposed.doc_ids, "exposure": exposed.average(exposed.exposure, is_any)}
    if exposed.has_target:
        exposure = exposed.average(exposed.exposure, exposed.is_judged)
        target = exposed.average(exposed.target, exposed.is_judged)
        ratio: FloatArray = np.full(len(target), np.nan)
        np.divide(exposure, target, out=ratio, where=target > 0)
        columns["target"] = target
        columns["of_target"] = pl.Series(ratio).fill_nan(None)
    if not groups:
        return pl.DataFrame(columns)
    groups_of_item: dict[str, list[str]] = {}
    for group, doc_ids in groups.items():
        for doc_id in doc_ids:
            groups_of_item.setdefault(doc_id, []).append(group)
    # an item without a group has none, not an empty text
    columns["group"] = [BETWEEN.join(groups_of_item.get(doc_id, [])) or None for doc_id in exposed.doc_ids]
    return pl.DataFrame(columns, schema_overrides={"group": pl.String})


def tabulate_groups(exposed: ExposedItems, groups: Mapping[str, Sequence[str]], sums: GroupSums) -> pl.DataFrame:
    """Return a row for each group, as `Exposure.groups`."""
    exposure = sums.exposure.mean(axis=0)
    sizes = np.array([len(doc_ids) for doc_ids in groups.values()])
    total = exposed.exposure.sum() / len(exposed.query_ids)
    share = exposure / total if total else np.full(len(exposure), np.nan)
    columns: dict[str, Any] = {
        "group": list(groups),
        "n_items": sizes,
        "exposure": exposure,
        "share": share,
        "per_item": exposure / sizes,
    }
    if exposed.has_target:
        is_judged = exposed.is_judged
        with np.errstate(divide="ignore", invalid="ignore"):
            judged_exposure = sums.exposure[is_judged].sum(axis=0) / is_judged.sum()
            target = sums.target[is_judged].sum(axis=0) / is_judged.sum()
            columns["target"] = target / sizes
            columns["of_target"] = judged_exposure / target
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
