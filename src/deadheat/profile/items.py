"""item_profile() and exposure(): which items a run recommends, and how much attention each gets."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl

from deadheat.arrays import ArrayLike, BoolArray, FloatArray, IntArray, TextArray, codes_of, run_starts, sums_of
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
    as_number,
    as_positive,
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
from deadheat.placements.comparing import is_array, to_memory
from deadheat.placements.dense import NOTHING, count_dense, entries_of, lists_of_matrix
from deadheat.placements.lists import Lists

CUTOFF = 10
MOST_GROUPS = 300  # whose pairs are compared: 44,850 take about two seconds
OF_QUERIES = ("average_popularity", "tail_share", "novelty")
OF_RUN = ("coverage", "gini", "entropy")


@dataclass(frozen=True, eq=False)
class ItemProfile(Shown):
    """Which items the top k of all lists hold.

    Where the cutoff cuts a tie, each of its documents is in the top k with the same probability: numbers are means over
    the orders of the ties; Gini coefficient and entropy are those of the expected exposure.

    Attributes
    ----------
    name : str
        Of the run.
    cutoff : int
    n_queries, n_items : int
        Lists, and items of the catalogue.
    coverage : float
        Expected share of the catalogue that is in some top k.
    gini : float
        Gini coefficient of the expected exposure (how often an item is in a top k) over the catalogue: 0 if all items
        have the same, near 1 if few have it all.
    entropy : float
        Shannon entropy of the expected exposure, in bits.
    query_ids : ndarray of str, shape (n_queries,)
    average_popularity, tail_share, novelty : ndarray of shape (n_queries,) or None
        Of the top k of each list: the mean popularity of its items, the share of them that is in the tail, and their
        mean novelty, -log2 of popularity over `n_users`; None without popularity. For novelty, an item of popularity 0
        has the least popularity that another one has, and 1 at most.
    tie_min, tie_max : dict of str to ndarray of shape (n_queries,)
        Of these, over the orders of the ties.
    head : float
        Share of the catalogue that is no tail: its most popular items.
    n_head : int
        Items that are no tail; fewer than that share where it ends among equally popular ones, or is less than an item.
    n_users : float or None
        What popularity is divided by.
    exposure : polars.DataFrame
        doc_id, exposure (in how many lists it is in the top k, as expected) and, if known, popularity of each item.
    notes : tuple of str
    """

    name: str
    cutoff: int
    n_queries: int
    n_items: int
    coverage: float
    gini: float
    entropy: float
    query_ids: TextArray = field(repr=False)
    average_popularity: FloatArray | None = field(repr=False)
    tail_share: FloatArray | None = field(repr=False)
    novelty: FloatArray | None = field(repr=False)
    tie_min: dict[str, FloatArray] = field(repr=False)
    tie_max: dict[str, FloatArray] = field(repr=False)
    head: float
    n_head: int
    n_users: float | None
    exposure: pl.DataFrame = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        items = counted(self.n_items, "item")
        return f"<ItemProfile {self.name}: {self.coverage:.1%} of {items} in the top {self.cutoff}>"

    def means(self) -> dict[str, float]:
        """Return all numbers by name; those of lists are means over them."""
        return {name: float(getattr(self, name)) for name in OF_RUN} | {
            name: float(values.mean()) for name, values in self.of_queries().items()
        }

    def of_queries(self) -> dict[str, FloatArray]:
        """Return the numbers that each list has, by name; none without popularity."""
        return {name: getattr(self, name) for name in self.tie_min}

    def to_polars(self) -> pl.DataFrame:
        """Return the items with their exposure, the most exposed first."""
        check_threads()
        return self.exposure.sort("exposure", "doc_id", descending=[True, False])

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((name,), number) for name, number in self.means().items())
        yield ("n_items",), self.n_items


def item_profile(
    run: Source,
    popularity: Source | None = None,
    *,
    cutoff: int = CUTOFF,
    n_items: int | None = None,
    n_users: float | None = None,
    head: float = 0.2,
    exclude: object = None,
    mask: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    ascending: bool = False,
) -> ItemProfile:
    """Return which items the top k of a run's lists hold: coverage, concentration, popularity, tail and novelty.

    Parameters
    ----------
    run : path, dict, dataframe or Run; or array of shape (n_users, n_items)
        A list of items for each user; or a matrix of scores, as for :func:`evaluate_dense`.
    popularity : dict, qrels, vector or matrix, optional
        ``{item: number}``; or the interactions that the system was trained on, as qrels of users and items: an item is
        as popular as it has users with relevance above 0, however often each. Of a matrix of scores also a number for
        each column (an array or a list), or the interactions as for :func:`popularity`, a matrix or lists of columns.
        Items that are not in it have popularity 0.
    cutoff : int, default 10
    n_items : int, optional
        Items of the catalogue; by default those of the run, or all columns, and of `popularity`.
    n_users : float, optional
        Users, for novelty, no fewer than the popularity of any item; by default those of the interactions. A dict or a
        vector does not say it: there it is needed, 1 if its numbers are shares of the users.
    head : float, default 0.2
        Share of the catalogue that is not the tail, the most popular items; one as popular as the last of them is in
        the tail if there is no room for all of these.
    exclude, mask, query_ids, doc_ids : optional
        Of a matrix, as for :func:`evaluate_dense`.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to this many decimals.
    check_duplicates : bool, default True
        Whether to look for (user, item) pairs that appear twice.
    ascending : bool, default False
        Lower scores rank first, as of distances.

    Returns
    -------
    ItemProfile

    Raises
    ------
    ParameterError
        A parameter is out of its range, or the catalogue is smaller than what is recommended.

    References
    ----------
    Castells, Hurley and Vargas 2022, Novelty and diversity in recommender systems,
    https://doi.org/10.1007/978-1-0716-2197-4_16; exposure as an expectation: Diaz et al. 2020,
    https://doi.org/10.1145/3340531.3411962.

    Examples
    --------
    >>> popularity = {"a": 8, "b": 2, "c": 1, "d": 5}
    >>> found = item_profile({"u1": {"a": 2, "b": 1, "c": 1}}, popularity, cutoff=2, n_users=16)
    >>> {name: round(value, 4) for name, value in found.means().items()}
    {'coverage': 0.5, 'gini': 0.375, 'entropy': 1.5, 'average_popularity': 4.75, 'tail_share': 1.0, 'novelty': 2.25}
    """
    options: dict[str, Any] = {"n_items": n_items, "n_users": n_users, "head": head}
    of_matrix: dict[str, Any] = {"exclude": exclude, "mask": mask, "query_ids": query_ids, "doc_ids": doc_ids}
    _check_form(of_matrix, score_precision, is_matrix=is_array(run), ascending=ascending)
    if is_array(run):
        lists = lists_of_matrix(run, as_count("cutoff", cutoff), **of_matrix)
        return profile_of(lists, popularity, cutoff, name="scores", **options)
    own = Run.of(run, ascending=ascending)
    check_each(own, is_asked=check_duplicates)
    lists = Lists.of_run(own, score_precision)
    return profile_of(lists, popularity, cutoff, name=own.name, notes=own.notes, **options)


def _check_form(
    of_matrix: Mapping[str, object], score_precision: ScorePrecision, *, is_matrix: bool, ascending: bool
) -> None:
    """Raise `ParameterError` if a matrix comes with an option of runs, or a run with one of matrices."""
    of_runs = {"score_precision": score_precision, "ascending": ascending or None}
    for name, given in (of_runs if is_matrix else of_matrix).items():
        if given is not None:
            raise ParameterError(
                "is for a run, not for a matrix" if is_matrix else "is for a matrix, not for a run", argument=name
            )


def profile_of(
    lists: Lists,
    popularity: object = None,
    cutoff: int = CUTOFF,
    *,
    n_items: int | None = None,
    n_users: float | None = None,
    head: float = 0.2,
    name: str = "run",
    notes: tuple[str, ...] = (),
) -> ItemProfile:
    """Return which items the top k of lists hold.

    Parameters
    ----------
    lists : Lists
    popularity, cutoff, n_items, n_users, head
        As for :func:`item_profile`.
    name : str
    notes : tuple of str
        What was assumed to read the lists.
    """
    cutoff = as_count("cutoff", cutoff)
    if lists.depth is not None and cutoff > lists.depth:
        raise ParameterError(
            argument="cutoff",
            given=cutoff,
            allowed=f"{lists.depth} or less",
            hint=f"items={cutoff} keeps as many ranks of each list",
        )
    n_items = None if n_items is None else as_count("n_items", n_items)
    n_users = None if n_users is None else as_positive("n_users", n_users)
    head = as_number("head", head, 0, 1)
    known, users = _popularity_of(popularity, n_users, lists)
    catalogue = list(dict.fromkeys((*lists.doc_ids.tolist(), *(known or ()))))
    size = len(catalogue) if n_items is None else n_items
    if size < len(catalogue):
        raise ParameterError(
            argument="n_items",
            given=n_items,
            allowed=f"{len(catalogue)} or more, the items that the run or the popularity has",
        )
    top, inside = _top(lists, cutoff)
    exposure, missed = sums_of(top.document, inside / top.tied, len(catalogue)), np.ones(len(catalogue))
    np.multiply.at(missed, top.document, 1 - inside / top.tied)
    items: dict[str, object] = {"doc_id": catalogue, "exposure": exposure}
    values = {}
    if known is not None:
        n_unknown = sum(one not in known for one, own in zip(catalogue, exposure.tolist(), strict=True) if own)
        if n_unknown:
            notes = (*notes, f"{counted(n_unknown, 'item')} of the top {cutoff} without popularity: it is 0")
        of_item = np.array([known.get(one, 0.0) for one in catalogue])
        values = _values(of_item, size, head, users)
        items["popularity"] = of_item
    found = {name: _of_lists(top, inside, of_item) for name, of_item in values.items()}
    check_threads()
    return ItemProfile(
        name=name,
        cutoff=cutoff,
        n_queries=len(top.query_ids),
        n_items=size,
        coverage=float((1 - missed).sum() / size),
        gini=gini(exposure, size),
        entropy=_entropy(exposure),
        query_ids=top.query_ids,
        **{name: found[name][0] if name in found else None for name in OF_QUERIES},
        tie_min={name: ends[1] for name, ends in found.items()},
        tie_max={name: ends[2] for name, ends in found.items()},
        head=float(head),
        n_head=0 if known is None else int((values["tail_share"] == 0).sum()),
        n_users=None if known is None else users,
        exposure=pl.DataFrame(items, schema_overrides={"doc_id": pl.String}),
        notes=notes,
    )


def popularity(train: object, n_items: int | None = None) -> FloatArray:
    """Return how many users have each item: scores of the popularity baseline, the same for each user.

    Parameters
    ----------
    train : sparse matrix, array of shape (n_users, n_items), or list of lists of int
        The items of each user, as for `exclude` of :func:`evaluate_dense`; numbers above 0 count once.
    n_items : int, optional
        Items of the catalogue; needed for lists alone.

    Returns
    -------
    ndarray of float, shape (n_items,)

    Raises
    ------
    ParameterError
        Lists come without `n_items`, or name an item beyond; or an array has another number of columns.

    Examples
    --------
    >>> from deadheat import evaluate_dense
    >>> train, test = [[0, 1], [0], [0, 2]], [[2], [1], [1]]
    >>> popularity(train, n_items=4).tolist()
    [3.0, 1.0, 1.0, 0.0]
    >>> evaluate_dense(popularity(train, n_items=4), test, "RR", exclude=train).means()
    {'RR': 0.9166666666666666}
    """
    given = cast("Any", train)
    if hasattr(train, "shape"):
        shape = tuple(given.shape)
        if len(shape) != 2 or (n_items is not None and shape[1] != n_items):
            raise ParameterError(
                argument="train",
                given=Plain(f"an array of shape {shape}"),
                allowed=f"of shape (n_users, {'n_items' if n_items is None else n_items})",
                hint="if it holds numbers of items, give train.tolist()",
            )
        n_users, n_items = shape
    elif n_items is None:
        raise ParameterError(argument="n_items", given=None, allowed="the number of items, as lists do not say it")
    else:
        n_users, n_items = len(given), as_count("n_items", n_items)
    held = entries_of(train, (n_users, n_items), "train")
    return np.bincount(held.document[held.value > 0], minlength=n_items).astype(np.float64)


def _popularity_of(source: object, n_users: float | None, lists: Lists) -> tuple[dict[str, float] | None, float]:
    """Return the popularity of the known items, and the number of users."""
    if source is None:
        return None, math.nan
    known, users = _numbers_of(source, lists)
    users = users if n_users is None else n_users
    if users is None:
        raise ParameterError(
            "a popularity as a dict or a vector does not say how many users there are",
            hint="give n_users=, 1 if the numbers are shares of them; or the interactions of users as popularity",
        )
    return known, float(users)


def _numbers_of(source: Any, lists: Lists) -> tuple[dict[str, float], float | None]:  # noqa: ANN401 - of many types
    """Return the popularity of each item, and how many users there are, where the source says it."""
    if isinstance(source, Mapping) and source and all(isinstance(one, Real) for one in source.values()):
        return _of_dict(source), None
    is_list = isinstance(source, list) and bool(source) and not isinstance(source[0], Mapping | tuple)
    if is_list and all(isinstance(one, Real) for one in source):
        source = np.array(source, np.float64)
    is_array_like = hasattr(source, "tocoo") or is_array(source)
    if lists.depth is not None and (is_array_like or is_list):  # of a matrix; those of a run are whole, and have ids
        return _of_matrix(source, lists.doc_ids)
    if is_array_like:
        raise ParameterError(
            argument="popularity",
            given=Plain(type(source).__name__),
            allowed="{item: number}, or qrels of users and items",
            hint="an array or a list has no ids of items, and goes with a matrix of scores alone",
        )
    rows = Qrels.of(source).to_polars().filter(pl.col("relevance") > 0)
    counts = rows.group_by("doc_id").agg(pl.col("query_id").n_unique().cast(pl.Float64)).sort("doc_id")
    return dict(counts.iter_rows()), rows["query_id"].n_unique()


def _of_matrix(some: Any, doc_ids: TextArray) -> tuple[dict[str, float], float | None]:  # noqa: ANN401 - of many types
    """Return the popularity of each column of a matrix, or of a vector, and how many users a matrix has."""
    shape = tuple(some.shape) if hasattr(some, "shape") else (len(some), len(doc_ids))
    if shape[-1] != len(doc_ids):
        raise ParameterError(
            argument="popularity",
            given=Plain(f"shape {shape}"),
            allowed=f"a number or a column for each of the {counted(len(doc_ids), 'item')} of the scores",
        )
    if len(shape) == 1:
        return _of_dict(dict(zip(doc_ids.tolist(), to_memory(some).tolist(), strict=True))), None
    held = entries_of(some, cast("tuple[int, int]", shape), "popularity")
    numbers = np.bincount(held.document[held.value > 0], minlength=len(doc_ids)).astype(np.float64)
    return dict(zip(doc_ids.tolist(), numbers.tolist(), strict=True)), len(np.unique(held.query[held.value > 0]))


def _of_dict(given: Mapping[object, float]) -> dict[str, float]:
    """Return the popularity of each item of a dict."""
    for item in (item for item, one in given.items() if not 0 <= one < math.inf):
        raise ParameterError(
            argument="popularity", given=Plain(f"{given[item]!r} for {item!r}"), allowed="numbers from 0 on"
        )
    found = {str(item): float(one) for item, one in given.items()}
    if len(found) < len(given):
        raise ParameterError("has two numbers for an item, as 1 and as '1'", argument="popularity")
    return found


def _top(lists: Lists, cutoff: int) -> tuple[Lists, IntArray]:
    """Return what may be in the top k of the lists that have an item, and how many ranks of its tie are in it."""
    is_in = lists.above < cutoff
    query, document, above, tied = (one[is_in] for one in (lists.query, lists.document, lists.above, lists.tied))
    starts = run_starts(query)
    code = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(query)))
    return (
        Lists(lists.query_ids[query[starts]], lists.doc_ids, code, document, above, tied),
        np.minimum(cutoff - above, tied),
    )


def _of_lists(top: Lists, inside: IntArray, of_item: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of what the items of each top k count, and the least and greatest one over tie orders."""
    size, value, share = len(top.query_ids), of_item[top.document], inside / top.tied
    order = np.lexsort((value, top.above, top.query))
    query, ordered = top.query[order], value[order]
    starts = run_starts(query, top.above[order])
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    is_low, is_high = place < inside[order], place >= (top.tied - inside)[order]
    n = np.round(sums_of(top.query, share, size))  # the lesser of the cutoff and the length of the list
    # in the order of the values, as that of the documents of a tie is any
    mean, low, high = (sums_of(query, ordered * one, size) / n for one in (share[order], is_low, is_high))
    return mean, low, high


def _values(popularity: FloatArray, size: int, head: float, n_users: float) -> dict[str, FloatArray]:
    """Return what each item counts, by name; raise for a number of users that is less than some item has."""
    most = float(popularity.max())
    if not most > 0:
        raise ParameterError(argument="popularity", given=Plain("0 for every item"), allowed="some number above 0")
    if n_users < most:
        raise ParameterError(f"is less than {most:g}, the users of one item", argument="n_users", given=n_users)
    n_head = math.floor(head * size + 1e-9)
    ordered = np.sort(np.append(popularity, np.zeros(size - len(popularity))))[::-1]
    border = ordered[n_head] if n_head < size else -np.inf  # the first that is not in the head
    least = popularity[popularity > 0].min(initial=1.0)
    return {
        "average_popularity": popularity,
        "tail_share": (popularity <= border) * 1.0,
        "novelty": np.maximum(-np.log2(np.maximum(popularity, least) / n_users), 0.0),
    }


def gini(exposure: FloatArray, size: int) -> float:
    """Return the Gini coefficient of numbers, with zeros up to `size` of them."""
    ordered = np.append(np.zeros(size - len(exposure)), np.sort(exposure))
    return float(((2 * np.arange(1, size + 1) - size - 1) * ordered).sum() / (size * ordered.sum()))


def _entropy(exposure: FloatArray) -> float:
    share = exposure[exposure > 0] / exposure.sum()
    return max(float(-(share * np.log2(share)).sum()), 0.0)


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
        return f"<Exposure {self.name}: {counted(len(self.items), 'item')}, {means}>"

    def means(self) -> dict[str, float]:
        """Return the means over queries of `queries`, by name; NaN where no query has a relevant item."""
        return {
            name: math.nan if self.n_judged == 0 else float(np.nanmean(self.queries[name].to_numpy()))
            for name in self.queries.columns[1:]
        }

    @property
    def gini(self) -> float:
        """Gini coefficient of the exposure of the items: 0 if all have the same, near 1 if few have it all."""
        return gini(self.items["exposure"].to_numpy(), self.items.height)

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
    of_matrix: dict[str, Any] = {"exclude": exclude, "mask": mask, "query_ids": query_ids, "doc_ids": doc_ids}
    _check_form(of_matrix, score_precision, is_matrix=is_array(given[0]), ascending=ascending)
    if qrels is None and target == "relevant":
        raise ParameterError("needs qrels", argument="target", given=target)
    if is_array(given[0]):
        relevant, depth = NOTHING if qrels is None else qrels, int(cast("Any", given[0]).shape[-1])
        dense = [count_dense(one, relevant, depth=depth, **of_matrix) for one in given]
        lists = [one.lists for one in dense if one.lists is not None]
        if qrels is not None:
            judged = dense[0].query_ids[dense[0].query], dense[0].doc_ids, dense[0].relevance
    else:
        runs = [Run.of(one, ascending=ascending) for one in given]
        judgments = None if qrels is None else Qrels.of(qrels)
        check_each(*runs, judgments, is_asked=check_duplicates)
        lists = [Lists.of_run(one, score_precision) for one in runs]
        judged = None if judgments is None else _judged(judgments)
        name = name if isinstance(run, Repeats) else runs[0].name
        notes = tuple(dict.fromkeys(note for one in runs for note in one.notes))
    held = {} if groups is None else read_groups(_by_item(groups, lists[0]))
    found = _exposed(lists, judged, held, _weights(discount, cutoff), is_endless=target == "relevant")
    sums = _by_group(found, held) if held else None
    columns, amortised = _expected_exposure(found, sums)
    pairs = None if sums is None or len(held) > MOST_GROUPS else _pairs(found, held, sums, confidence_level)
    return Exposure(
        name=name,
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
    if isinstance(given, Repeats):
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
            given=Plain(f"an array or a list of {counted(len(of_columns), 'group')}"),
            allowed="a table, {item: group} or {group: [item]}, or of a matrix one for each column",
        )
    return dict(zip(lists.doc_ids.tolist(), of_columns, strict=True))


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


def _by_group(found: _Exposed, groups: Mapping[str, Sequence[str]]) -> tuple[FloatArray, FloatArray]:
    """Return exposure and target of groups, the sums over their items, each of shape (n_queries, n_groups)."""
    sums = []
    for items in groups.values():
        is_in = np.zeros(len(found.doc_ids))
        is_in[codes_of(np.array(items, object), found.doc_ids)] = 1
        sums.append([found.by_query(own * is_in[found.item]) for own in (found.exposure, found.target)])
    exposure, target = np.array(sums).transpose(1, 2, 0)
    return exposure, target


def _expected_exposure(
    found: _Exposed, sums: tuple[FloatArray, FloatArray] | None
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return EE by query, NaN without a relevant item, and that of the means over queries."""
    names, which = ("EE-D", "EE-R", "EE-L") if found.has_target else ("EE-D",), found.is_judged
    own, target = found.exposure, found.target
    by_query = dict(zip(names, map(found.by_query, (own**2, own * target, (own - target) ** 2)), strict=False))
    amortised = dict(zip(names, _of_vectors(found.by_item(own, which), found.by_item(target, which)), strict=False))
    if sums is not None:
        exposure, ideal = sums
        named = [f"group {name}" for name in names]
        by_query |= dict(zip(named, _of_vectors(exposure, ideal), strict=False))
        averaged = _of_vectors(*(one[which].sum(axis=0) / max(int(which.sum()), 1) for one in sums))
        amortised |= dict(zip(named, averaged, strict=False))
    columns = {name: np.where(which, one, np.nan) for name, one in by_query.items()}
    return columns, {name: float(one) if which.any() else math.nan for name, one in amortised.items()}


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
        own, target = (one[found.is_judged].sum(axis=0) for one in sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            own, target = own / found.is_judged.sum(), target / found.is_judged.sum()
            columns |= {"target": target / sizes, "of_target": own / target}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


def _pairs(
    found: _Exposed,
    groups: Mapping[str, Sequence[str]],
    sums: tuple[FloatArray, FloatArray],
    confidence_level: float,
) -> pl.DataFrame | None:
    """Return a row for each two groups: how far their exposure differs, with intervals over queries."""
    from deadheat.stats.intervals import interval_bounds  # NumPy's generators; only groups need them

    places = list(combinations(range(len(groups)), 2))
    if not places:
        return None
    names = list(groups)
    per_item = sums[0] / list(map(len, groups.values()))
    own, target = (one[found.is_judged] for one in sums)
    differences = np.stack([per_item[:, a] - per_item[:, b] for a, b in places], axis=1)
    ends = interval_bounds(differences, method="t", confidence_level=confidence_level)
    rows = []
    for n, (a, b) in enumerate(places):
        row: dict[str, Any] = {
            "group": names[a],
            "other": names[b],
            "disparity": float(differences[:, n].mean()),
            "low": float(ends[0][n]),
            "high": float(ends[1][n]),
            **_ratio("ratio", per_item[:, [a]], per_item[:, [b]], confidence_level),
        }
        if found.has_target:
            up, down = np.stack([own[:, a], target[:, b]], axis=1), np.stack([own[:, b], target[:, a]], axis=1)
            row |= _ratio("ratio_of_target", up, down, confidence_level)
        rows.append(row)
    return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))


def _ratio(name: str, up: FloatArray, down: FloatArray, confidence_level: float) -> dict[str, float]:
    """Return the product of the sums of some columns over that of others, with an interval over the rows, by name."""
    from deadheat.stats.intervals import jackknife_bounds

    with np.errstate(divide="ignore", invalid="ignore"):
        whole = float(np.log(up.sum(axis=0)).sum() - np.log(down.sum(axis=0)).sum())
        left = sum(sign * np.log(one.sum(axis=0) - one).sum(axis=1) for sign, one in ((1, up), (-1, down)))
    # a group may have exposure in one query alone, or in none
    ends = jackknife_bounds(whole, left, confidence_level) if np.isfinite(left).all() else (np.nan, np.nan)
    return dict(zip((name, f"{name}_low", f"{name}_high"), np.exp([whole, *ends]).tolist(), strict=True))


def _notes(found: _Exposed, lists: Sequence[Lists], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is to be said of the data; raise if their ids have nothing in common."""
    notes, shown = [], {one for own in lists for one in own.doc_ids}
    if n_missing := len(found.query_ids) - len({one for own in lists for one in own.query_ids}):
        notes.append(f"not in the run: {counted(n_missing, 'query', 'queries')} of the judgments; empty lists")
    if found.has_target and not found.is_judged.all():
        without = counted(int((~found.is_judged).sum()), "query", "queries")
        notes.append(f"{without} without a relevant item: no expected exposure")
    if len(groups) > MOST_GROUPS:
        notes.append(f"{counted(len(groups), 'group')}, more than {MOST_GROUPS}: pairs of them are not compared")
    if groups:
        grouped = set().union(*groups.values())
        if shown.isdisjoint(grouped):
            raise DataError(f"no item of the groups ({three(sorted(grouped))}) is in the run ({three(sorted(shown))})")
        if lacking := len(shown - grouped):
            notes.append(f"{lacking:,} of {counted(len(shown), 'item')} in the run have no group, and count in none")
    return notes
