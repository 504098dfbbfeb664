"""item_profile(): which items a run recommends: coverage, concentration, popularity, tail and novelty."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import ArrayLike, FloatArray, IntArray, TextArray, run_starts, sum_by_code
from deadheat.core.checks import as_count, as_number, as_positive
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.systems import are_runs
from deadheat.core.io.duplicates import refuse_merging
from deadheat.core.io.guarding import check_threads
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.dense.comparing import is_array
from deadheat.plugins.dense.counting import NOTHING, count_dense
from deadheat.plugins.dense.lists import Lists
from deadheat.plugins.recommender.concentration import entropy, gini
from deadheat.plugins.recommender.popularity import popularity_of

CUTOFF = 10
OF_QUERIES = ("average_popularity", "tail_share", "novelty")
OF_RUN = ("coverage", "gini", "entropy")


@dataclass(frozen=True, eq=False)
class ItemProfile(Renderable):
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
        items = format_count(self.n_items, "item")
        return escape_invisible(f"<ItemProfile {self.name}: {self.coverage:.1%} of {items} in the top {self.cutoff}>")

    def means(self) -> dict[str, float]:
        """Return all numbers by name; those of lists are means over them."""
        return {name: float(getattr(self, name)) for name in OF_RUN} | {
            name: mean_of_queries(values) for name, values in self.of_queries().items()
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
    ascending: bool = False,
    duplicates: str = "error",
) -> ItemProfile:
    """Return which items the top k of a run's lists hold: coverage, concentration, popularity, tail and novelty.

    Parameters
    ----------
    run : path, dict, dataframe or Run; or array of shape (n_users, n_items)
        A list of items for each user; or a matrix of scores, as for :func:`evaluate_dense`.
    popularity : dict, qrels, vector or matrix, optional
        ``{item: number}``; or the interactions that the system was trained on, as qrels of users and items: an item is
        as popular as it has users with relevance above 0, however often each; one that has none is in the catalogue
        with popularity 0, as one of the dict is. Of a matrix of scores also a number for
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
    ascending : bool, default False
        Lower scores rank first, as of distances.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`evaluate`; "trust" looks all the same.

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
    of_runs = {"score_precision": score_precision, "ascending": ascending or None}
    check_form(of_matrix, of_runs, is_matrix=is_array(run), duplicates=duplicates)
    if is_array(run):
        found = count_dense(run, NOTHING, depth=as_count("cutoff", cutoff), **of_matrix)
        return profile_of(cast("Lists", found.lists), popularity, cutoff, name="scores", **options)
    if are_runs(run):
        raise ParameterError(argument="run", allowed="one run", found="several", hint="call item_profile for each")
    own = Run.of(run, ascending=ascending, duplicates=duplicates)
    own.check_duplicates()
    lists = Lists.of_run(own, score_precision)
    return profile_of(lists, popularity, cutoff, name=own.name, notes=own.notes, **options)


def check_form(
    of_matrix: Mapping[str, object], of_runs: Mapping[str, object], *, is_matrix: bool, duplicates: str
) -> None:
    """Raise `ParameterError` if a matrix comes with an option of runs, or a run with one of matrices.

    Parameters
    ----------
    of_matrix, of_runs : mapping of str to object
        The options by their names; None for one that is not given.
    is_matrix : bool
    duplicates : str
        An option of runs; a matrix has each document once.
    """
    if is_matrix:
        refuse_merging(duplicates, "a matrix")
    for name, given in (of_runs if is_matrix else of_matrix).items():
        if given is not None:
            raise ParameterError(
                "is for a run, not for a matrix" if is_matrix else "is for a matrix, not for a run", argument=name
            )


def profile_of_evaluation(
    evaluation: Evaluation,
    popularity: object,
    cutoff: int,
    *,
    n_items: int | None,
    n_users: float | None,
    head: float,
) -> ItemProfile:
    """Return which items the top k of the lists of an evaluation hold.

    Parameters
    ----------
    evaluation : Evaluation
        With the lists that were kept, or with its run.
    popularity, cutoff, n_items, n_users, head
        As for :func:`item_profile`.

    Raises
    ------
    ParameterError
        The lists were not kept, or not so deep.
    """
    lists = cast("Lists | None", evaluation.lists)
    if lists is None:
        run = evaluation.run
        if run is None or evaluation.origin is not None:
            raise ParameterError(
                "the lists of this evaluation were not kept",
                hint="evaluate_dense(..., items=True) and Accumulator(items=True) keep them",
            )
        run.rows.check_same()
        lists = Lists.of_run(run, evaluation.conventions.score_precision)
    return profile_of(lists, popularity, cutoff, n_items=n_items, n_users=n_users, head=head, name=evaluation.name)


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
    known, users = popularity_of(popularity, n_users, lists)
    catalogue = list(dict.fromkeys((*lists.doc_ids.tolist(), *(known or ()))))
    size = len(catalogue) if n_items is None else n_items
    if size < len(catalogue):
        raise ParameterError(
            argument="n_items",
            given=n_items,
            allowed=f"{len(catalogue)} or more, the items that the run or the popularity has",
        )
    top = _select_top(lists, cutoff)
    exposure = sum_by_code(top.lists.document, top.share, len(catalogue))
    items: dict[str, object] = {"doc_id": catalogue, "exposure": exposure}
    item_values: dict[str, FloatArray] = {}
    n_head = 0
    if known is not None:
        n_unknown = _count_unknown(catalogue, exposure, known)
        if n_unknown:
            notes = (*notes, f"{format_count(n_unknown, 'item')} of the top {cutoff} without popularity: it is 0")
        popularity_of_items = np.array([known.get(doc_id, 0.0) for doc_id in catalogue])
        items["popularity"] = popularity_of_items
        item_values = _values(popularity_of_items, size, head, users)
        n_head = int((item_values["tail_share"] == 0).sum())
    means = {name: _average_over_top(top, values) for name, values in item_values.items()}
    check_threads()
    return ItemProfile(
        name=name,
        cutoff=cutoff,
        n_queries=len(top.lists.query_ids),
        n_items=size,
        coverage=_coverage(top, len(catalogue), size),
        gini=gini(exposure, size),
        entropy=entropy(exposure),
        query_ids=top.lists.query_ids,
        **{name: means[name].mean if name in means else None for name in OF_QUERIES},
        tie_min={name: mean.low for name, mean in means.items()},
        tie_max={name: mean.high for name, mean in means.items()},
        head=float(head),
        n_head=n_head,
        n_users=None if known is None else users,
        exposure=pl.DataFrame(items, schema_overrides={"doc_id": pl.String}),
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _Top:
    """The top k of lists.

    Attributes
    ----------
    lists : Lists
        Only the entries that may be in the top k, of the queries that have some.
    inside : ndarray of int, shape (n_entries,)
        Of each entry how many ranks of its tie are in the top k.
    """

    lists: Lists
    inside: IntArray

    @cached_property
    def share(self) -> FloatArray:
        """The probability of each entry to be in the top k, over the orders of its tie."""
        return self.inside / self.lists.tied


@dataclass(frozen=True, eq=False)
class _ListMeans:
    """Of the top k of each list the mean of a number of its items, and the least and greatest over tie orders.

    Attributes
    ----------
    mean, low, high : ndarray of float, shape (n_queries,)
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def _select_top(lists: Lists, cutoff: int) -> _Top:
    """Return what may be in the top k of the lists that have an item."""
    is_in = lists.above < cutoff
    query = lists.query[is_in]
    above = lists.above[is_in]
    tied = lists.tied[is_in]
    starts = run_starts(query)
    code = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(query)))
    entries = Lists(lists.query_ids[query[starts]], lists.doc_ids, code, lists.document[is_in], above, tied)
    return _Top(entries, np.minimum(cutoff - above, tied))


def _count_unknown(catalogue: Sequence[str], exposure: FloatArray, known: Mapping[str, float]) -> int:
    """Return how many items of the top k have no popularity."""
    n_unknown = 0
    for doc_id, exposure_of_item in zip(catalogue, exposure.tolist(), strict=True):
        if exposure_of_item and doc_id not in known:
            n_unknown += 1
    return n_unknown


def _coverage(top: _Top, n_documents: int, size: int) -> float:
    """Return the expected share of the catalogue, of this size, that is in some top k; NaN of an empty one."""
    if not size:
        return np.nan
    missed = np.ones(n_documents)
    np.multiply.at(missed, top.lists.document, 1 - top.share)
    return float((1 - missed).sum() / size)


def _average_over_top(top: _Top, item_values: FloatArray) -> _ListMeans:
    """Return the mean of these values of the items in each top k, and its range over tie orders."""
    n_queries = len(top.lists.query_ids)
    values = item_values[top.lists.document]
    # in the order of the values, as that of the documents of a tie is any
    order = np.lexsort((values, top.lists.above, top.lists.query))
    query = top.lists.query[order]
    ordered = values[order]
    inside = top.inside[order]
    tied = top.lists.tied[order]
    starts = run_starts(query, top.lists.above[order])
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    n = np.round(sum_by_code(top.lists.query, top.share, n_queries))  # min(cutoff, the length of the list)
    return _ListMeans(
        mean=sum_by_code(query, ordered * top.share[order], n_queries) / n,
        low=sum_by_code(query, ordered * (place < inside), n_queries) / n,
        high=sum_by_code(query, ordered * (place >= tied - inside), n_queries) / n,
    )


def _values(popularity: FloatArray, size: int, head: float, n_users: float) -> dict[str, FloatArray]:
    """Return what each item counts, by name; raise for a number of users that is less than some item has."""
    most = float(popularity.max())
    if not most > 0:
        raise ParameterError(argument="popularity", found="0 for every item", allowed="some number above 0")
    if n_users < most:
        raise ParameterError(f"is less than {most:g}, the users of one item", argument="n_users", given=n_users)
    n_head = math.floor(head * size + 1e-9)
    without_popularity = np.zeros(size - len(popularity))
    descending = np.sort(np.append(popularity, without_popularity))[::-1]
    first_of_tail = descending[n_head] if n_head < size else -np.inf
    least = popularity[popularity > 0].min(initial=1.0)
    share_of_users = np.maximum(popularity, least) / n_users
    return {
        "average_popularity": popularity,
        "tail_share": (popularity <= first_of_tail) * 1.0,
        "novelty": np.maximum(-np.log2(share_of_users), 0.0),
    }


def mean_of_queries(values: FloatArray) -> float:
    """Return the mean over queries with a list; NaN where none has one."""
    return float(values.mean()) if len(values) else np.nan
