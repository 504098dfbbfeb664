"""agree(): how far two rankings agree, exactly where scores tie."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray, run_starts
from deadheat.core.checks import as_count, as_level
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.data.swapped import are_levels
from deadheat.core.errors import DataError, DeadheatWarning
from deadheat.core.kernels import agreement, overlap
from deadheat.core.phases import phase
from deadheat.core.wording import escape_invisible, format_list

KINDS = {
    "tau_b": "Kendall's tau-b",
    "tau": "Kendall's tau, mean over tie orders",
    "tau_ap": "AP correlation, mean over tie orders",
    "rbo_w": "rank-biased overlap, ties as equals",
    "rbo_a": "rank-biased overlap, mean over tie orders",
    "rbo_b": "rank-biased overlap, corrected for ties",
    "overlap": "overlap of the top k, mean over tie orders",
}
"""What two rankings are compared by, and what it is in words."""

BOUNDS = {"rbo_w": "unseen", "rbo_a": "unseen", "rbo_b": "unseen", "overlap": "ties"}
"""Those that have a range too: over what is below the end of both lists, or over the orders of ties."""


@dataclass(frozen=True, eq=False)
class Agreement(Renderable):
    """How far two runs agree on the queries that both have.

    Attributes
    ----------
    first, second : str
        Names of the runs; the first is the reference of ``tau_ap``.
    query_ids : ndarray of str, shape (n_queries,)
        Queries that both have, sorted.
    values : dict of str to ndarray of shape (n_queries,)
        By kind: ``tau_b``, ``tau``, ``tau_ap``, ``rbo_w``, ``rbo_a``, ``rbo_b`` and ``overlap``; NaN where a query has
        no value, as tau where the lists share fewer than two documents. ``rbo_a`` is the mean over tie orders where
        both lists have as many documents; of others its lower end is.
    low, high : dict of str to ndarray of shape (n_queries,)
        Of rank-biased overlap, if what is below both lists agreed nowhere, or everywhere; of ``overlap``, over the
        orders of ties.
    n_common : ndarray of int, shape (n_queries,)
        Documents that both lists have.
    only_first, only_second : tuple of str
        Queries that one run lacks; they are left out.
    p : float
        Persistence of rank-biased overlap.
    cutoff : int
        Of ``overlap``.
    tied : tuple of two float
        Share of the documents of each run that tie with another one.
    """

    first: str
    second: str
    query_ids: TextArray
    values: dict[str, FloatArray] = field(repr=False)
    low: dict[str, FloatArray] = field(repr=False)
    high: dict[str, FloatArray] = field(repr=False)
    n_common: IntArray = field(repr=False)
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    p: float
    cutoff: int
    tied: tuple[float, float]

    def __repr__(self) -> str:
        return escape_invisible(f"<Agreement {self.first}, {self.second}: tau_b {self.means()['tau_b']:.4f}>")

    def means(self) -> dict[str, float]:
        """Return the mean of each kind over the queries that have a value; NaN if none has."""
        kept = {name: values[~np.isnan(values)] for name, values in self.values.items()}
        return {name: float(values.mean()) if len(values) else np.nan for name, values in kept.items()}

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each query: the documents in common, each kind, and its range if it has one."""
        columns: dict[str, object] = {"query_id": self.query_ids.tolist(), "n_common": self.n_common}
        for name, values in self.values.items():
            columns[name] = values
            if name in BOUNDS:
                columns |= {f"{name}_low": self.low[name], f"{name}_high": self.high[name]}
        return make_frame(columns)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((name,), mean) for name, mean in self.means().items())
        yield ("n_queries",), len(self.query_ids)


def agree(
    run: Source,
    other: Source,
    *,
    p: float = 0.9,
    cutoff: int = 10,
    score_precision: ScorePrecision = None,
    ascending: bool = False,
    duplicates: str = "error",
) -> Agreement:
    """Compare the rankings of two runs, without judgments, and exactly where scores tie.

    Kendall's tau and tau-AP are over the documents that both lists have; rank-biased overlap and the overlap of the top
    k are over all of them. Means over tie orders break the ties of both runs independently.

    Parameters
    ----------
    run, other : path, dict, dataframe or Run
        The first one is the reference of ``tau_ap``.
    p : float, default 0.9
        Persistence of rank-biased overlap, between 0 and 1: the top ten have 86% of the weight at 0.9.
    cutoff : int, default 10
        Of the overlap of the top k.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to this many decimals.
    ascending : bool, default False
        Lower scores rank first, as of distances, in both.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`deadheat.evaluate`; "trust" looks all the same.

    Returns
    -------
    Agreement
        By query and on average; queries that only one run has are left out, and named.

    Raises
    ------
    DataError
        The runs share no query with results; or one has a document twice for a query.
    ParameterError
        A parameter is out of its range.

    Warns
    -----
    DeadheatWarning
        Two JSON files look like judgments.

    References
    ----------
    Corsi and Urbano 2024, https://doi.org/10.1145/3626772.3657700, for the three forms of rank-biased overlap; Yilmaz,
    Aslam and Robertson 2008, https://doi.org/10.1145/1390334.1390435, for tau-AP.

    Examples
    --------
    >>> found = agree({"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"a": 1, "b": 1, "c": 0}}, cutoff=1)
    >>> {name: round(value, 4) for name, value in found.means().items()}
    {'tau_b': 0.8165, 'tau': 0.6667, 'tau_ap': 0.5, 'rbo_w': 0.9667, 'rbo_a': 0.95, 'rbo_b': 0.9707, 'overlap': 0.5}
    """
    p, cutoff = as_level("p", p, example="0.9"), as_count("cutoff", cutoff)
    runs = [Run.of(one, ascending=ascending, duplicates=duplicates) for one in (run, other)]
    if all(one.path is not None and are_levels(one) for one in runs):
        warnings.warn(
            f"{runs[0].where} and {runs[1].where} hold small whole numbers alone: if these are judgments, they cannot"
            " be compared as rankings",
            DeadheatWarning,
            stacklevel=2,
        )
    for one in runs:
        one.check_duplicates()
    with phase("ranking documents"):
        frames = [one.positions(score_precision) for one in runs]
    queries = [set(frame["query_id"].unique().to_list()) for frame in frames]
    common = queries[0] & queries[1]
    if not common:
        raise DataError(
            f"{runs[0].where} and {runs[1].where} share no query with results: {list_queries(queries[0])} and"
            f" {list_queries(queries[1])}"
        )
    shares = [float((frame["tied"] > 1).mean()) for frame in frames]  # type: ignore[arg-type]  # of True and False
    queries_of_both = _by_query(frames, common)
    found = []
    with phase(f"comparing {runs[0].name} and {runs[1].name}", len(queries_of_both)) as advance:
        for above, tied in queries_of_both:
            found.append(_of_query(above, tied, p, cutoff))
            advance(1)
    values, low, high = (
        {name: np.array([one[name][place] for one in found]) for name in (KINDS if place == 0 else BOUNDS)}
        for place in range(3)
    )
    names = [one.name for one in runs]
    if names[0] == names[1]:
        names = [f"{name} ({n})" for n, name in enumerate(names, start=1)]
    return Agreement(
        first=names[0],
        second=names[1],
        query_ids=np.array(sorted(common), dtype=object),
        values=values,
        low=low,
        high=high,
        n_common=np.array([int((tied > 0).all(axis=0).sum()) for _, tied in queries_of_both]),
        only_first=tuple(sorted(queries[0] - common)),
        only_second=tuple(sorted(queries[1] - common)),
        p=p,
        cutoff=cutoff,
        tied=(shares[0], shares[1]),
    )


def list_queries(query_ids: set[str]) -> str:
    """Return some of the ids for a message, or "none"."""
    return format_list([*map(repr, sorted(query_ids))]) or "none"


def _by_query(frames: list[pl.DataFrame], common: set[str]) -> list[tuple[IntArray, IntArray]]:
    """Return above and tied, of shape (2, n_docs), of each common query; a document that a run lacks has tied 0."""
    own = [frame.filter(pl.col("query_id").is_in(list(common))) for frame in frames]
    joined = own[0].join(own[1], on=["query_id", "doc_id"], how="full", coalesce=True).sort("query_id", "doc_id")
    above, tied = (
        np.stack([joined[f"{name}{end}"].fill_null(0).to_numpy() for end in ("", "_right")])
        for name in ("above", "tied")
    )
    ends = run_starts(joined["query_id"].rle_id().to_numpy().astype(np.int64))[1:]
    return list(zip(np.split(above, ends, axis=1), np.split(tied, ends, axis=1), strict=True))


def _of_query(above: IntArray, tied: IntArray, p: float, cutoff: int) -> dict[str, tuple[float, float, float]]:
    """Return the value of each kind for a query, and the lower and upper end of its range if it has one."""
    first, second = above[:, (tied > 0).all(axis=0)]
    tau = agreement.tau(first, second)
    tau_ap = agreement.tau_ap(first, second)
    top = overlap.top_overlap(above, tied, cutoff)
    values = {
        "tau_b": (tau.tau_b, tau.tau_b, tau.tau_b),
        "tau": (tau.mean, tau.mean, tau.mean),
        "tau_ap": (tau_ap, tau_ap, tau_ap),
    }
    for variant in overlap.VARIANTS:
        rbo = overlap.rank_biased_overlap(above, tied, p, variant)
        values[f"rbo_{variant}"] = (rbo.extrapolated, rbo.low, rbo.high)
    values["overlap"] = (top.mean, top.low, top.high)
    return values
