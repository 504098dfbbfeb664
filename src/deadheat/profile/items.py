"""item_profile(): which items a run recommends, beyond whether they are right."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
import polars as pl

from deadheat.arguments import as_count, is_number, positive
from deadheat.arrays import FloatArray, TextArray
from deadheat.data.flat import Numbers
from deadheat.data.precision import ScorePrecision
from deadheat.data.shown import Shown
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import ParameterError
from deadheat.io.forking import check_threads
from deadheat.wording import Plain, counted

CUTOFF = 10
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
        doc_id, exposure and, if known, popularity of each item that is in a top k or known.
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
        whole = counted(self.n_items, "item")
        return f"<ItemProfile {self.name}: {self.coverage:.1%} of {whole} in the top {self.cutoff}>"

    def means(self) -> dict[str, float]:
        """Return all numbers by name; those of lists are means over them."""
        found = {name: float(getattr(self, name)) for name in OF_RUN}
        return found | {name: float(values.mean()) for name, values in self.of_queries().items()}

    def of_queries(self) -> dict[str, FloatArray]:
        """Return the numbers that each list has, by name; none without popularity."""
        held = {name: getattr(self, name) for name in OF_QUERIES}
        return {name: values for name, values in held.items() if values is not None}

    def to_polars(self) -> pl.DataFrame:
        """Return the items with their exposure, the most exposed first."""
        check_threads()
        return self.exposure.sort("exposure", "doc_id", descending=[True, False])

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for name, number in self.means().items():
            yield (name,), number
        yield ("n_items",), self.n_items


def item_profile(
    run: Source,
    popularity: Source | None = None,
    *,
    cutoff: int = CUTOFF,
    n_items: int | None = None,
    n_users: float | None = None,
    head: float = 0.2,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    ascending: bool = False,
) -> ItemProfile:
    """Return which items the top k of a run's lists hold: coverage, concentration, popularity, tail and novelty.

    Parameters
    ----------
    run : path, dict, dataframe or Run
        A list of items for each user.
    popularity : dict or qrels, optional
        ``{item: number}``; or the interactions that the system was trained on, as qrels of users and items: an item is
        as popular as it has users with relevance above 0, however often each. Items that are not in it have
        popularity 0.
    cutoff : int, default 10
    n_items : int, optional
        Items of the catalogue; by default those of the run and of `popularity`.
    n_users : float, optional
        Users, for novelty, no fewer than the popularity of any item; by default those of the interactions. A dict does
        not say it: there it is needed, 1 if its numbers are shares of the users.
    head : float, default 0.2
        Share of the catalogue that is not the tail, the most popular items; one as popular as the last of them is in
        the tail if there is no room for all of these.
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
    cutoff = as_count("cutoff", cutoff)
    n_items = None if n_items is None else as_count("n_items", n_items)
    n_users = None if n_users is None else positive("n_users", n_users)
    if not (is_number(head) and 0 <= head <= 1):
        raise ParameterError(argument="head", given=head, allowed="a number from 0 to 1")
    own = Run.of(run, ascending=ascending)
    if check_duplicates:
        own.check_duplicates()
    known, users = _popularity_of(popularity, n_users)
    placed = own.positions(score_precision)
    top = _top(placed, cutoff)
    exposed = top.group_by("doc_id").agg(
        exposure=pl.col("share").sum(), missed=(1 - pl.col("share")).product(), n_lists=pl.len()
    )
    items = exposed if known is None else exposed.join(known, on="doc_id", how="full", coalesce=True)
    items = items.with_columns(pl.col("exposure").fill_null(0.0), pl.col("missed").fill_null(1.0))
    n_known = pl.concat([frame["doc_id"] for frame in (placed, known) if frame is not None]).n_unique()
    size = n_known if n_items is None else n_items
    if size < n_known:
        raise ParameterError(
            f"n_items={n_items} is less than the {n_known} items that the run or the popularity has", argument="n_items"
        )
    notes, values = own.notes, {}
    if known is not None:
        if n_unknown := items["popularity"].null_count():
            notes = (*notes, f"{counted(n_unknown, 'item')} of the top {cutoff} without popularity: it is 0")
        items = items.with_columns(pl.col("popularity").fill_null(0.0))
        values = _values(items["popularity"].to_numpy(), size, head, users)
    found = {name: _of_lists(top, items, of_item) for name, of_item in values.items()}
    exposure = items["exposure"].to_numpy()
    return ItemProfile(
        name=own.name,
        cutoff=cutoff,
        n_queries=top["query_id"].n_unique(),
        n_items=size,
        coverage=float((1 - items["missed"].to_numpy()).sum() / size),
        gini=_gini(exposure, size),
        entropy=_entropy(exposure),
        query_ids=np.array(top["query_id"].unique().sort().to_list(), dtype=object),
        **{name: found[name][0] if name in found else None for name in OF_QUERIES},
        tie_min={name: ends[1] for name, ends in found.items()},
        tie_max={name: ends[2] for name, ends in found.items()},
        head=float(head),
        n_head=0 if known is None else int((values["tail_share"] == 0).sum()),
        n_users=None if known is None else users,
        exposure=items.drop("missed", "n_lists"),
        notes=notes,
    )


def _popularity_of(source: Source | None, n_users: float | None) -> tuple[pl.DataFrame | None, float]:
    """Return doc_id and popularity of the known items, and the number of users."""
    if source is None:
        return None, math.nan
    if isinstance(source, Mapping) and source and all(isinstance(one, Real) for one in source.values()):
        found = _of_dict(source)
        if n_users is None:
            hint = "give n_users=, 1 if the numbers are shares of them; or the interactions of users as popularity"
            raise ParameterError("a popularity as a dict does not say how many users there are", hint=hint)
        return found, float(n_users)
    rows = Qrels.of(source).to_polars().filter(pl.col("relevance") > 0)
    found = rows.group_by("doc_id").agg(popularity=pl.col("query_id").n_unique().cast(pl.Float64))
    return found, float(rows["query_id"].n_unique() if n_users is None else n_users)


def _of_dict(given: Mapping[object, float]) -> pl.DataFrame:
    """Return doc_id and popularity of a dict."""
    wrong = next((item for item, one in given.items() if not 0 <= one < math.inf), None)
    if wrong is not None:
        raise ParameterError(
            argument="popularity", given=Plain(f"{given[wrong]!r} for {wrong!r}"), allowed="numbers from 0 on"
        )
    ids = [str(item) for item in given]
    if len(set(ids)) < len(ids):
        twice = next(item for item in ids if ids.count(item) > 1)
        raise ParameterError(f"popularity has two numbers for item {twice!r}", argument="popularity")
    return pl.DataFrame({"doc_id": ids, "popularity": [float(one) for one in given.values()]})


def _top(placed: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    """Return the documents that may be in the top k, each with its probability, and where its tie begins and ends."""
    inside = (cutoff - pl.col("above")).clip(0, pl.col("tied"))
    return placed.with_columns(inside=inside, share=inside / pl.col("tied")).filter(pl.col("inside") > 0)


def _values(popularity: FloatArray, size: int, head: float, n_users: float) -> dict[str, FloatArray]:
    """Return what each item counts, by name; raise for a number of users that is less than some item has."""
    most = float(popularity.max())
    if not most > 0:
        raise ParameterError(argument="popularity", given=Plain("0 for every item"), allowed="some number above 0")
    if n_users < most:
        raise ParameterError(f"n_users={n_users:g} is less than {most:g}, the users of one item", argument="n_users")
    n_head = math.floor(head * size + 1e-9)
    ordered = np.sort(np.append(popularity, np.zeros(size - len(popularity))))[::-1]
    border = ordered[n_head] if n_head < size else -np.inf  # the first that is not in the head
    least = popularity[popularity > 0].min(initial=1.0)
    return {
        "average_popularity": popularity,
        "tail_share": (popularity <= border) * 1.0,
        "novelty": np.maximum(-np.log2(np.maximum(popularity, least) / n_users), 0.0),
    }


def _of_lists(top: pl.DataFrame, items: pl.DataFrame, of_item: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of what the items of each top k count, and the least and greatest one over tie orders."""
    rows = top.join(items.select("doc_id", value=pl.Series(of_item)), on="doc_id").with_columns(
        first=pl.col("value").rank("ordinal").over("query_id", "above"),
        last=pl.col("value").rank("ordinal", descending=True).over("query_id", "above"),
    )
    found = (
        rows.group_by("query_id")
        .agg(
            n=pl.col("share").sum(),
            mean=(pl.col("share") * pl.col("value")).sum(),
            low=pl.col("value").filter(pl.col("first") <= pl.col("inside")).sum(),
            high=pl.col("value").filter(pl.col("last") <= pl.col("inside")).sum(),
        )
        .sort("query_id")
    )
    n = found["n"].round(6).to_numpy()  # whole: the lesser of the cutoff and the length of the list
    mean, low, high = (found[name].to_numpy() / n for name in ("mean", "low", "high"))
    return mean, low, high


def _gini(exposure: FloatArray, size: int) -> float:
    """Return the Gini coefficient of numbers, with zeros up to `size` of them."""
    ordered = np.append(np.zeros(size - len(exposure)), np.sort(exposure))
    return float(((2 * np.arange(1, size + 1) - size - 1) * ordered).sum() / (size * ordered.sum()))


def _entropy(exposure: FloatArray) -> float:
    share = exposure[exposure > 0] / exposure.sum()
    return max(float(-(share * np.log2(share)).sum()), 0.0)
