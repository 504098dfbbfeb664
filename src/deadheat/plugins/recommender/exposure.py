"""exposure(): how much attention the ranks of a run give to each item, and to groups of items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.core.arrays import ArrayLike, FloatArray
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
from deadheat.core.measures import DCG
from deadheat.core.wording import escape_invisible, format_count, format_list
from deadheat.plugins.dense.comparing import is_array
from deadheat.plugins.dense.counting import NOTHING, count_dense
from deadheat.plugins.dense.lists import Lists
from deadheat.plugins.recommender.concentration import gini
from deadheat.plugins.recommender.exposed_items import (
    ExposedItems,
    GroupSums,
    JudgedItems,
    compute_expected_exposure,
    find_exposed_items,
    sum_over_groups,
    tabulate_groups,
    tabulate_items,
)
from deadheat.plugins.recommender.groups import read_groups
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
        names = self.queries.columns[1:]
        if self.n_judged == 0:
            return dict.fromkeys(names, np.nan)
        return {name: float(np.nanmean(self.queries[name].to_numpy())) for name in names}

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
        for name, number in self.means().items():
            yield (name,), number
        for name, number in self.amortised.items():
            yield ("amortised", name), number
        yield ("gini",), self.gini
        yield from _name_cells(self.groups, ["group"])
        yield from _name_cells(self.pairs, ["group", "other"])


def _name_cells(frame: pl.DataFrame | None, keys: Sequence[str]) -> Numbers:
    """Give the numbers of a table by the values of its key columns and the name of theirs; nothing without a table."""
    if frame is None:
        return
    for row in frame.iter_rows(named=True):
        labels = [row.pop(key) for key in keys]
        for name, number in row.items():
            if number is not None:
                yield (*labels, name), number


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
    sources = _list_runs(run)
    options_of_matrix: dict[str, Any] = {"exclude": exclude, "mask": mask, "query_ids": query_ids, "doc_ids": doc_ids}
    options_of_runs = {"score_precision": score_precision, "ascending": ascending or None}
    check_form(options_of_matrix, options_of_runs, is_matrix=is_array(sources[0]), duplicates=duplicates)
    if qrels is None and target == "relevant":
        raise ParameterError("needs qrels", argument="target", given=target)
    if is_array(sources[0]):
        data = _read_matrices(sources, qrels, **options_of_matrix)
    else:
        runs = [Run.of(source, ascending=ascending, duplicates=duplicates) for source in sources]
        data = _read_runs(runs, qrels, score_precision)
    items_of_group: dict[str, list[str]] = {}
    if groups is not None:
        items_of_group = read_groups(_group_columns(groups, data.lists[0]))
    weigh_ranks = _weigh_ranks(discount, cutoff)
    exposed = find_exposed_items(
        data.lists, data.judgments, items_of_group, weigh_ranks, is_endless=target == "relevant"
    )
    sums = table_of_groups = pairs = None
    if items_of_group:
        sums = sum_over_groups(exposed, items_of_group)
        table_of_groups = tabulate_groups(exposed, items_of_group, sums)
        pairs = _compare_groups(exposed, items_of_group, sums, confidence_level)
    expected = compute_expected_exposure(exposed, sums)
    queries = pl.DataFrame({"query_id": exposed.query_ids, **expected.by_query})
    n_queries = len(exposed.query_ids)
    return Exposure(
        name=run.name if is_system(run) else data.name,
        discount=discount if isinstance(discount, str) else getattr(discount, "__name__", "a function"),
        cutoff=cutoff,
        n_runs=len(sources),
        n_queries=n_queries,
        n_judged=None if data.judgments is None else int(exposed.is_judged.sum()),
        items=tabulate_items(exposed, items_of_group),
        queries=queries.with_columns(pl.col(pl.Float64).fill_nan(None)),
        groups=table_of_groups,
        pairs=pairs,
        amortised=expected.amortised,
        confidence_level=confidence_level,
        unknown="" if pairs is None else why_unknown(0.0, 1.0, n_queries, None, "t"),
        notes=(*data.notes, *_describe_data(exposed, data.lists, items_of_group)),
    )


@dataclass(frozen=True, eq=False)
class _Data:
    """What is read of runs or matrices, and of judgments.

    Attributes
    ----------
    name : str
    lists : list of Lists
        Of each run.
    judgments : JudgedItems or None
    notes : tuple of str
        What was assumed to read the runs.
    """

    name: str
    lists: list[Lists]
    judgments: JudgedItems | None
    notes: tuple[str, ...] = ()


def _list_runs(run: Any) -> Sequence[Source]:  # noqa: ANN401 - whatever a run may be
    """Return the runs of a stochastic ranker, or one run.

    A list holds several runs, unless it is one run itself: a list of rows, each a list or a mapping of plain values.
    """
    if is_system(run):
        return run.runs
    if not isinstance(run, list | tuple) or not run:
        return [run]
    for element in run:
        if isinstance(element, tuple | list):
            return [run]
        if isinstance(element, Mapping) and not all(isinstance(value, Mapping | list) for value in element.values()):
            return [run]
    return run


def _group_columns(groups: Source, lists: Lists) -> Source:
    """Return groups by item, if they are a list or an array with that of each column of a matrix."""
    is_list = isinstance(groups, list) and not any(isinstance(element, Mapping | tuple | list) for element in groups)
    if not (is_list or is_array(groups)):
        return groups
    group_of_column = np.asarray(groups, object).tolist()
    if lists.depth is None or len(group_of_column) != len(lists.doc_ids):
        raise ParameterError(
            argument="groups",
            found=f"an array or a list of {format_count(len(group_of_column), 'group')}",
            allowed="a table, {item: group} or {group: [item]}, or of a matrix one for each column",
        )
    return dict(zip(lists.doc_ids.tolist(), group_of_column, strict=True))


def _read_matrices(
    matrices: Sequence[Any],
    relevant: Source | None,
    **options: Any,  # noqa: ANN401 - of count_dense
) -> _Data:
    """Return the lists of matrices of scores, whole, and what is judged."""
    depth = int(matrices[0].shape[-1])
    labels = NOTHING if relevant is None else relevant
    counted = [count_dense(matrix, labels, depth=depth, **options) for matrix in matrices]
    lists = [placements.lists for placements in counted if placements.lists is not None]
    judgments = None
    if relevant is not None:
        first = counted[0]
        judgments = JudgedItems(first.query_ids[first.query], first.doc_ids, first.relevance)
    return _Data("scores", lists, judgments)


def _read_runs(runs: Sequence[Run], qrels: Source | None, score_precision: ScorePrecision) -> _Data:
    """Return the lists of runs, and what is judged; the name is that of the first run."""
    judgments = None if qrels is None else Qrels.of(qrels)
    for run in runs:
        run.check_duplicates()
    if judgments is not None:
        judgments.check_duplicates()
    lists = [Lists.of_run(run, score_precision) for run in runs]
    notes = tuple(dict.fromkeys(note for run in runs for note in run.notes))
    return _Data(runs[0].name, lists, None if judgments is None else _judge_items(judgments), notes)


def _judge_items(judgments: Qrels) -> JudgedItems:
    """Return each judged pair once, with its highest relevance."""
    pairs = judgments.to_polars().group_by("query_id", "doc_id").agg(pl.col("relevance").max())
    pairs = pairs.sort("query_id", "doc_id")
    query_ids = np.array(pairs["query_id"].to_list(), object)
    doc_ids = np.array(pairs["doc_id"].to_list(), object)
    return JudgedItems(query_ids, doc_ids, pairs["relevance"].to_numpy())


def _compare_groups(
    exposed: ExposedItems, items_of_group: Mapping[str, Sequence[str]], sums: GroupSums, confidence_level: float
) -> pl.DataFrame | None:
    """Return the pairs of groups as a table; None where there are too many."""
    if len(items_of_group) > MOST_GROUPS:
        return None
    n_items = {group: len(items) for group, items in items_of_group.items()}
    is_judged = exposed.is_judged if exposed.has_target else None
    return tabulate_pairs(n_items, sums.exposure, sums.target, is_judged, confidence_level)


def _weigh_ranks(discount: Discount, cutoff: int | None) -> Callable[[int], FloatArray]:
    """Return a function that gives the weights of the first ranks."""

    def find_weights(n_ranks: int) -> FloatArray:
        size = n_ranks if cutoff is None else min(n_ranks, cutoff)
        if isinstance(discount, str):
            return DCG(discount=discount).weights(size)
        weights = np.asarray(discount(np.arange(1.0, size + 1)), np.float64)
        if weights.shape != (size,) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ParameterError(
                argument="discount",
                found=f"a function that gives {weights.tolist()!r:.60}",
                allowed="one that gives a number from 0 on for each rank",
            )
        return weights

    find_weights(1)  # refuses a function that is not a discount, whatever the lists are
    return find_weights


def _describe_data(exposed: ExposedItems, lists: Sequence[Lists], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is to be said of the data; raise if their ids have nothing in common."""
    notes = []
    retrieved: set[str] = set().union(*(listed.doc_ids for listed in lists))
    queries_of_runs: set[str] = set().union(*(listed.query_ids for listed in lists))
    n_missing = len(exposed.query_ids) - len(queries_of_runs)
    if n_missing:
        notes.append(f"not in the run: {format_count(n_missing, 'query', 'queries')} of the judgments; empty lists")
    if exposed.has_target and not exposed.is_judged.all():
        n_without = int((~exposed.is_judged).sum())
        notes.append(f"{format_count(n_without, 'query', 'queries')} without a relevant item: no expected exposure")
    if len(groups) > MOST_GROUPS:
        notes.append(f"{format_count(len(groups), 'group')}, more than {MOST_GROUPS}: pairs of them are not compared")
    if not groups:
        return notes
    grouped: set[str] = set().union(*groups.values())
    if retrieved.isdisjoint(grouped):
        raise DataError(
            f"no item of the groups ({format_list(sorted(grouped))}) is in the run ({format_list(sorted(retrieved))})"
        )
    n_without_group = len(retrieved - grouped)
    if n_without_group:
        n_items = format_count(len(retrieved), "item")
        notes.append(f"{n_without_group:,} of {n_items} in the run have no group, and count in none")
    return notes
