"""tie_profile() and what it returns: how many documents of a run share their score, and what their order decides.

With qrels also how stable values are: a rule that breaks ties beside the exact values, and whether it matters.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray
from deadheat.checks import MAX_DECIMALS, as_count, as_cutoffs, as_list, check_choice
from deadheat.data.renderable import Numbers, Plottable, Renderable, frame_of
from deadheat.data.tables import Qrels, Run, Source, check_each
from deadheat.errors import DataError, ParameterError
from deadheat.evaluation.evaluate import RuleDifference, difference_of, differences, evaluate, evaluate_beside, keys_of
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.warned import warn
from deadheat.io.values import check_number
from deadheat.measures import Measure, parse_measure
from deadheat.measures.discounted import LOWEST_POSITIVE
from deadheat.measures.notation import MeasureLike, Measures, parse_measures
from deadheat.placements.place import open_pair
from deadheat.placements.placements import Placements
from deadheat.placements.policies import LOOK_AT_RUN
from deadheat.profile.grouping import GRIDS, Grouped, find_levels, grouped, is_kept, is_on_grid, ties_of
from deadheat.scalars import NOISE
from deadheat.settings import Conventions
from deadheat.structures import group_values
from deadheat.wording import did_you_mean, escape_invisible, format_count, short_repr

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
N_WORST = 5
FEWEST = 3  # queries of a correlation: a line goes through any two points
VISIBLE = 0.0001  # a smaller change of a mean does not show in four decimals
RULE_OF_THUMB = 10  # percent of the queries: if more have ties, a tutorial on G-RAG's measures says, count ties exactly
BY_MEASURE = ("mean", "tie_std", "tie_min", "tie_max", "n_queries", "share_of_queries", "share_of_error")

OF_RUN = (
    *("n_queries", "n_documents", "n_queries_with_ties", "n_ties", "n_tied", "share_tied", "n_levels"),
    *("mean_ties", "mean_largest_tie"),
)


@dataclass(frozen=True)
class CountRange:
    """Smallest, middle and largest of some counts."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, repr=False)
class Cut:
    """What a cutoff does to ties.

    Attributes
    ----------
    cutoff : int
    n_queries : int
        Queries with a tie that the cutoff cuts: some of its documents are above, some below.
    share : float
        Of all queries of the run.
    """

    cutoff: int
    n_queries: int
    share: float

    __repr__ = short_repr


@dataclass(frozen=True)
class LargestTie:
    """The tie with the most documents (the first such)."""

    query_id: str
    score: float
    n_documents: int


@dataclass(frozen=True, repr=False)
class Decided:
    """How much of a measure is decided by the order of ties.

    Attributes
    ----------
    measure : Measure
    mean, tie_std, tie_min, tie_max : float
        As in `Scores`: of the mean over queries.
    n_queries : int
        Queries whose value depends on the order.
    share_of_queries : float
    share_of_error : float
        If ties were broken at random: the part of the squared standard error of the mean that would be due to it.
    worst : tuple of WorstQuery
        The queries with the widest range, widest first.
    scores : Scores
        From which all this is computed.
    """

    measure: Measure
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float
    n_queries: int
    share_of_queries: float = field(repr=False)
    share_of_error: float = field(repr=False)
    worst: "tuple[WorstQuery, ...]" = field(repr=False)
    scores: Scores = field(repr=False, compare=False)

    __repr__ = short_repr


@dataclass(frozen=True, repr=False)
class WorstQuery:
    """A query and the range of its value over tie orders."""

    query_id: str
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float

    __repr__ = short_repr


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation over queries.

    Attributes
    ----------
    value : float or None
        None where it is undefined.
    n_queries : int
    undefined : str
        Why there is none; empty if there is one.
    """

    value: float | None
    n_queries: int
    undefined: str = ""


@dataclass(frozen=True)
class Stability:
    """A rule that breaks ties beside the exact values of a measure.

    Attributes
    ----------
    difference : RuleDifference
        Of the means, and in the queries.
    with_tie_ratio, with_largest_tie : Correlation
        Of the distance between the two values of a query with the share of its documents that tie, and with the
        documents in its largest tie.
    scores : Scores
        Under the rule.
    """

    difference: RuleDifference
    with_tie_ratio: Correlation
    with_largest_tie: Correlation
    scores: Scores = field(repr=False, compare=False)


@dataclass(frozen=True)
class Recommendation:
    """Whether ties have to be counted exactly, by what they do to the measures, and by a rule of thumb.

    Attributes
    ----------
    is_exact : bool
        Whether tie order moves the mean of a measure by 0.0001 or more.
    measure : Measure
        The one whose mean can move most.
    low, high : float
        The smallest and largest mean that tie orders alone can give it (of counts the total).
    n_decided, n_queries : int
        Queries whose value of it depends on tie order, and all of its queries.
    n_with_ties, n_of_run : int
        Queries of the run with ties, and all of them.
    """

    is_exact: bool
    measure: Measure
    low: float
    high: float
    n_decided: int
    n_queries: int
    n_with_ties: int
    n_of_run: int

    @property
    def is_exact_by_rule_of_thumb(self) -> bool:
        """Whether more than 10% of the queries have ties: the rule of the tutorial on G-RAG's measures."""
        return 100 * self.n_with_ties > RULE_OF_THUMB * self.n_of_run

    @property
    def agrees(self) -> bool:
        """Whether the rule of thumb says the same."""
        return self.is_exact == self.is_exact_by_rule_of_thumb


@dataclass(frozen=True, repr=False)
class TieProfile(Plottable, Renderable, figures="ties", shown=("traditional", "largest_tie", "tie_histogram")):
    """What is known about the ties of a run.

    Attributes
    ----------
    name : str
        Label of the run.
    n_queries, n_documents : int
        Queries, and rows, of the run.
    n_queries_with_ties : int
    n_ties : int
        Groups of two or more documents with the same score.
    n_tied : int
        Documents in them.
    tie_size : CountRange or None
        Documents a tie; None without ties.
    largest : LargestTie or None
    distinct_scores : CountRange
        Distinct scores a query.
    cuts : tuple of Cut
    n_levels : int
        Distinct scores in the whole run.
    levels : tuple of (float, int)
        Each score with its documents, highest first, if there are few.
    decimals : int or None
        The decimals that suffice to write every score; None if 15 do not.
    grid : {"bfloat16", "float16", "float32"} or None
        The coarsest floating-point format that holds every score, or held it before it was written with `decimals`.
    decided : tuple of Decided
        By measure; empty without qrels.
    missing_queries : tuple of str
        Queries of the qrels that the run lacks.
    unjudged_queries : tuple of str
        Queries of the run without judgments: the measures leave them out.
    notes : tuple of str
        What was assumed or skipped to read run and qrels.
    is_judged : bool
        Whether the qrels judge any document of the run; True without qrels.
    rule : {"doc_id", "input"} or None
        The rule that breaks ties in `stability` and `per_query`; None without qrels.
    stability : tuple of Stability
        By measure, as in `decided`: the rule beside the exact values.
    recommendation : Recommendation or None
        None without qrels, or without a retrieved document that they judge.
    queries : polars.DataFrame
        The ties of each query of the run.
    placements : Placements or None
        None without qrels.
    """

    name: str
    n_queries: int
    n_documents: int
    n_queries_with_ties: int
    n_ties: int
    n_tied: int
    tie_size: CountRange | None
    largest: LargestTie | None
    distinct_scores: CountRange
    cuts: tuple[Cut, ...]
    n_levels: int
    levels: tuple[tuple[float, int], ...]
    decimals: int | None
    grid: str | None
    decided: tuple[Decided, ...] = ()
    missing_queries: tuple[str, ...] = ()
    unjudged_queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_judged: bool = True
    rule: str | None = None
    stability: tuple[Stability, ...] = ()
    recommendation: Recommendation | None = None
    queries: pl.DataFrame = field(kw_only=True, repr=False, compare=False)
    placements: Placements | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        queries, documents = (
            format_count(self.n_queries, "query", "queries"),
            format_count(self.n_documents, "document"),
        )
        ties = format_count(self.n_ties, "tie")
        return escape_invisible(f"<TieProfile {self.name}: {queries}, {documents}, {self.n_tied:,} of them in {ties}>")

    @property
    def share_tied(self) -> float:
        """Share of the documents that are in a tie."""
        return self.n_tied / self.n_documents

    @property
    def mean_ties(self) -> float:
        """Ties of a query, its mean over the queries of the run."""
        return self.n_ties / self.n_queries

    @property
    def mean_largest_tie(self) -> float:
        """Documents in the largest tie of a query, its mean over the queries of the run; 1 where none tie."""
        return float(self.queries["largest_tie"].to_numpy().mean())

    def to_polars(self) -> pl.DataFrame:
        """Return what the order of ties decides: a row for each measure, none without qrels.

        Returns
        -------
        polars.DataFrame
            measure, mean, tie_std, tie_min, tie_max (of the mean over queries), n_queries (whose value depends on the
            order), share_of_queries and share_of_error, as in :class:`Decided`.
        """
        return frame_of(
            [(one.measure.label, *(getattr(one, name) for name in BY_MEASURE)) for one in self.decided],
            {"measure": pl.String, **dict.fromkeys(BY_MEASURE, pl.Float64), "n_queries": pl.Int64},
        )

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from (((name,), getattr(self, name)) for name in OF_RUN)
        yield ("largest_tie",), self.largest.n_documents if self.largest else None
        yield from (((f"cut at {cut.cutoff}", "share"), cut.share) for cut in self.cuts)
        for one in self.decided:
            yield from one.scores.named_numbers()
            yield (one.measure.label, "share_of_queries"), one.share_of_queries
            yield (one.measure.label, "share_of_error"), one.share_of_error

    def per_query(self) -> pl.DataFrame:
        """Return the ties of each query, and what the rule makes of its values.

        Returns
        -------
        polars.DataFrame
            query_id, n_documents, n_ties, n_tied (documents in ties), largest_tie (1 where no two documents tie),
            tie_ratio (n_tied / n_documents), n_orders (of the ties; null from 10^18 on) and log10_orders. With qrels
            there is a row for each evaluated query and measure, and more columns: measure, n_relevant (judgments that
            count as relevant, retrieved or not), exact, tie_std, tie_min, tie_max, traditional (under `rule`),
            difference (traditional - exact) and rule; null where a query has no value.

        Examples
        --------
        >>> profile = tie_profile({"q1": {"a": 1, "b": 1, "c": 0}}, {"q1": {"a": 1}}, measures=["RR"])
        >>> profile.per_query().select("n_documents", "largest_tie", "exact", "traditional", "difference").row(0)
        (3, 2, 0.75, 0.5, -0.25)
        """
        if self.placements is None or self.rule is None:
            return self.queries
        ties = ties_of(self.queries, self.placements.query_ids.tolist())
        return pl.concat(
            ties.with_columns(
                measure=pl.lit(str(one.measure.label)),
                n_relevant=n_relevant(one.measure, self.placements),
                exact=one.scores.values,
                tie_std=one.scores.tie_std,
                tie_min=one.scores.tie_min,
                tie_max=one.scores.tie_max,
                traditional=beside.scores.values,
                difference=differences(one.scores, beside.scores),
                rule=pl.lit(self.rule),
            )
            for one, beside in zip(self.decided, self.stability, strict=True)
        ).with_columns(pl.col(pl.Float64).fill_nan(None))


def tie_profile(
    run: Source,
    qrels: Source | None = None,
    at: Sequence[int] = CUTOFFS,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    missing: str = "empty",
    no_relevant: str | None = None,
    beside: str = "doc_id",
    check_duplicates: bool = True,
    ascending: bool = False,
    then_by: Source | Sequence[Source] | None = None,
) -> TieProfile:
    """Describe the ties of a run and, with qrels, what they decide.

    Parameters
    ----------
    run : path, dict of dict, dataframe or Run
    qrels : path, dict of dict, dataframe or Qrels, optional
    at : sequence of int, default (1, 3, 5, 10, 20, 50, 100)
        Cutoffs to look at.
    measures : measure or iterable of measures, optional
        As for `evaluate`; only with qrels.
    missing, no_relevant : str, optional
        As for `evaluate`.
    beside : {"doc_id", "input"}, default "doc_id"
        With qrels: how ties are broken beside the exact values: by document id, as trec_eval (descending), or
        the order of the input.
    check_duplicates : bool, default True
        Whether to look for (query, document) pairs that a run has twice.
    ascending, then_by
        As for `evaluate`; what is said of scores is of the run's own, whatever orders their ties.

    Returns
    -------
    TieProfile

    Raises
    ------
    DataError
        The data cannot be evaluated; the message names the place.
    ParameterError
        A cutoff is not a whole number from 1 on, or measures are given without qrels.

    Examples
    --------
    >>> profile = tie_profile({"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 3, "b": 1}}, at=[1, 2])
    >>> profile.cuts
    (Cut(cutoff=1, n_queries=0, share=0.0), Cut(cutoff=2, n_queries=1, share=0.5))
    >>> profile.levels
    ((3.0, 1), (2.0, 1), (1.0, 3))
    """
    check_choice("beside", beside, LOOK_AT_RUN)  # as tools do, without chance
    cutoffs = as_cutoffs(at)
    if measures is not None and qrels is None:
        raise ParameterError("measures need qrels", found="None")
    keys, run = keys_of(run, then_by), Run.of(run, ascending=ascending)
    check_each(run, is_asked=check_duplicates)
    scored, run = grouped(run), run.then_by(*keys)
    if not len(scored.query_ids):
        raise DataError("it has queries without documents alone, so nothing ties", path=run.where)
    profile = replace(_describe(run.name, grouped(run) if keys else scored, scored, cutoffs), notes=run.notes)
    if qrels is None:
        return profile
    qrels, run = open_pair(qrels, run, check_duplicates=False)  # the run has been checked
    check_each(qrels, is_asked=check_duplicates)
    exact, traditional = evaluate_beside(
        Conventions(missing=missing, no_relevant=no_relevant), qrels, run, parse_measures(measures), beside
    )
    warn({run.where: exact}, qrels, {run.where: run})
    ties = ties_of(profile.queries, exact.query_ids.tolist())
    is_judged = len(exact.placements.query) > 0
    decided = tuple(map(_of_measure, exact))
    return replace(
        profile,
        decided=decided,
        missing_queries=exact.missing_queries,
        unjudged_queries=exact.unjudged_queries,
        notes=exact.notes,
        is_judged=is_judged,
        rule=beside,
        stability=tuple(stability_of(*both, ties, beside) for both in zip(exact, traditional, strict=True)),
        recommendation=recommend(decided, profile.n_queries_with_ties, profile.n_queries) if is_judged else None,
        placements=exact.placements,
    )


def n_relevant(measure: Measure, placements: Placements) -> IntArray:
    """Count each query's judgments that count as relevant for a measure: above 0 if it has no lowest relevance."""
    lowest = getattr(measure, "rel", None)
    return placements.n_relevant(LOWEST_POSITIVE if lowest is None else float(lowest))


def _describe(name: str, found: Grouped, scored: Grouped, at: Sequence[int]) -> TieProfile:
    """Describe ties; `scored` are those of the scores alone, before other keys broke some of them."""
    n_queries, largest = len(found.query_ids), None
    if len(found.size):
        place = int(found.size.argmax())
        query, above = found.query_ids[int(found.query[place])], found.above[place]
        is_own = scored.query == scored.query_ids.to_list().index(query)
        largest = LargestTie(query, float(scored.score[is_own & (scored.above <= above)][-1]), int(found.size[place]))
    cuts = [(cutoff, int(((found.above < cutoff) & (found.above + found.size > cutoff)).sum())) for cutoff in at]
    n_levels, levels = find_levels(scored.scores, scored.sizes)
    decimals = next((n for n in range(MAX_DECIMALS + 1) if is_kept(scored.scores, n)), None)
    return TieProfile(
        name=name,
        n_queries=n_queries,
        n_documents=int(found.n_documents.sum()),
        n_queries_with_ties=len(np.unique(found.query)),
        n_ties=len(found.size),
        n_tied=int(found.size.sum()),
        tie_size=_spread(found.size) if len(found.size) else None,
        largest=largest,
        distinct_scores=_spread(scored.n_groups),
        cuts=tuple(Cut(cutoff, n, n / n_queries) for cutoff, n in cuts),  # a query has at most one such tie
        n_levels=n_levels,
        levels=levels,
        decimals=decimals,
        grid=next((grid for grid in GRIDS if is_on_grid(scored.scores, grid, decimals)), None),
        queries=found.by_query(),
    )


def _spread(counts: IntArray) -> CountRange:
    return CountRange(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _of_measure(scores: Scores) -> Decided:
    span = scores.tie_max - scores.tie_min
    n_decided = int((span > NOISE).sum())
    n_queries = scores.n_queries
    of_ties = (scores.total_tie_std / n_queries) ** 2 if n_queries else 0.0
    of_queries = scores.std**2 / n_queries if n_queries > 1 else 0.0
    columns = (scores.values, scores.tie_std, scores.tie_min, scores.tie_max)
    widest = [place for place in np.argsort(-span, kind="stable").tolist() if span[place] > NOISE][:N_WORST]
    return Decided(
        scores.measure,
        scores.mean,
        scores.mean_tie_std,
        scores.mean_tie_min,
        scores.mean_tie_max,
        n_decided,
        n_decided / n_queries if n_queries else float("nan"),
        of_ties / (of_ties + of_queries) if of_ties > 0 else 0.0,
        tuple(WorstQuery(str(scores.query_ids[n]), *(float(one[n]) for one in columns)) for n in widest),
        scores,
    )


def correlate(one: FloatArray, other: FloatArray, names: tuple[str, str]) -> Correlation:
    """Return Pearson's correlation of two quantities of queries, over those that have both.

    Parameters
    ----------
    one, other : ndarray of float, shape (n_queries,)
    names : tuple of two str
        Of the quantities, for the reason why there is none.
    """
    pairs = np.stack([one, other])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < FEWEST:
        return Correlation(None, n, f"needs {FEWEST} queries")
    for values, name in zip(pairs, names, strict=True):
        if np.ptp(values) <= NOISE * max(1.0, float(np.abs(values).max())):
            return Correlation(None, n, f"{name} is the same in all queries")
    return Correlation(float(np.corrcoef(pairs)[0, 1]), n)


def stability_of(exact: Scores, traditional: Scores, ties: pl.DataFrame, rule: str) -> Stability:
    """Return how far a rule is from the exact values, and how that goes with the ties of the queries.

    Parameters
    ----------
    exact, traditional : Scores
        Of the same queries.
    ties : polars.DataFrame
        Of these queries, in their order. Those without documents are in no correlation.
    rule : str
    """
    apart = np.abs(differences(exact, traditional))
    ratio = ties["tie_ratio"].to_numpy()
    return Stability(
        difference_of(exact, traditional, rule),
        correlate(ratio, apart, ("the tie ratio", "the difference")),
        correlate(np.where(np.isnan(ratio), np.nan, ties["largest_tie"]), apart, ("the largest tie", "the difference")),
        traditional,
    )


def recommend(decided: Sequence[Decided], n_with_ties: int, n_of_run: int) -> Recommendation | None:
    """Return whether ties have to be counted exactly; None if no query has a relevant document for any measure.

    A measure with an upper bound comes before one without, whose changes are on another scale; then the one whose mean
    can move most.

    Parameters
    ----------
    decided : sequence of Decided
    n_with_ties, n_of_run : int
        Queries of the run with ties, and all of them.
    """

    def span(one: Decided) -> float:
        return one.scores.reported("tie_max") - one.scores.reported("tie_min")

    telling = [one for one in decided if one.scores.has_relevant[one.scores.kept].any()]
    if not telling:
        return None
    most = max(telling, key=lambda one: (span(one) >= VISIBLE, math.isfinite(one.measure.range[1]), span(one)))
    return Recommendation(
        span(most) >= VISIBLE,
        most.measure,
        most.scores.reported("tie_min"),
        most.scores.reported("tie_max"),
        most.n_queries,
        most.scores.n_queries,
        n_with_ties,
        n_of_run,
    )


Ranking = Mapping[str, float] | Sequence[float]

MAX_ORDERS = 10_000
LEAST_SAMPLES, MOST_SAMPLES = 1_000, 10_000
SHOWN = 10  # ties in a repr


@dataclass(frozen=True)
class Tie:
    """Documents with the same score.

    Attributes
    ----------
    score : float
    doc_ids : tuple of str
        In the order of the input.
    """

    score: float
    doc_ids: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.doc_ids)


@dataclass(frozen=True, repr=False)
class TieComplexity:
    """The ties of one ranking and the number of orders that they leave open.

    Attributes
    ----------
    groups : tuple of Tie
        Ties of two and more documents, the highest score first.
    n_orders : int
        Exact number of orders: the product of the factorials of the sizes.
    max_orders : int
        Up to which number of orders enumeration counts as feasible.
    """

    groups: tuple[Tie, ...]
    n_orders: int
    max_orders: int

    def __repr__(self) -> str:
        sizes = f"{self.sizes[:SHOWN]}" + (f" and {self.n_groups - SHOWN} more" if self.n_groups > SHOWN else "")
        return escape_invisible(
            f"<TieComplexity sizes={sizes}, n_orders={_shown(self.n_orders)}, feasible={self.feasible}>"
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of documents in each tie."""
        return tuple(tie.size for tie in self.groups)

    @property
    def n_groups(self) -> int:
        """Number of ties."""
        return len(self.groups)

    @property
    def max_size(self) -> int:
        """Size of the largest tie; 0 without ties."""
        return max(self.sizes, default=0)

    @property
    def feasible(self) -> bool:
        """Whether all orders can be enumerated. The closed forms of the measures never need it."""
        return self.n_orders <= self.max_orders

    @property
    def samples_by_rule_of_thumb(self) -> int:
        """Orders to draw by the rule of the tutorial on G-RAG's measures: a tenth, from 1,000 to 10,000.

        The exact mean needs none; that of so many drawn orders is off by about its ``tie_std`` over their square root.
        """
        return max(LEAST_SAMPLES, min(MOST_SAMPLES, self.n_orders // 10))


@dataclass(frozen=True, eq=False, repr=False)
class TieOrders:
    """The value of a measure, or of several, in every order of the ties.

    Attributes
    ----------
    measure : Measure
        The first one.
    orders : tuple of tuple of str
        Document ids in rank order.
    values : ndarray of float, shape (n_orders,)
        Of the first measure.
    first_relevant : tuple of int or None
        The rank of the first document of relevance 1 or more in each order; None if there is none.
    by_measure : dict of str to ndarray of float, shape (n_orders,)
        The values of every measure, by its notation.
    """

    measure: Measure
    orders: tuple[tuple[str, ...], ...]
    values: FloatArray
    first_relevant: tuple[int | None, ...]
    by_measure: dict[str, FloatArray]

    def __repr__(self) -> str:
        orders = format_count(len(self.orders), "order")
        return escape_invisible(f"<TieOrders {self.measure.label}: {orders}, mean {self.mean:.4f}>")

    @property
    def mean(self) -> float:
        """Mean over the orders."""
        return float(self.values.mean())

    @property
    def std(self) -> float:
        """Standard deviation over the orders."""
        return float(self.values.std())

    @property
    def min(self) -> float:
        """Smallest value."""
        return float(self.values.min())

    @property
    def max(self) -> float:
        """Largest value."""
        return float(self.values.max())

    def to_polars(self) -> pl.DataFrame:
        """Return a row per order: its documents in rank order (a list), first_relevant, and each measure's value."""
        return pl.DataFrame(
            {"order": list(map(list, self.orders)), "first_relevant": self.first_relevant, **self.by_measure},
            schema_overrides={"first_relevant": pl.Int64},
            strict=False,
        )


def tie_complexity(
    scores: Ranking, doc_ids: Sequence[str] | None = None, *, max_orders: int = MAX_ORDERS
) -> TieComplexity:
    """Find the ties of one ranking and count its orders.

    Parameters
    ----------
    scores : sequence of float, or dict of str to float
        Scores of the documents, in any order.
    doc_ids : sequence of str, optional
        Their ids; by default doc1, doc2, ... in the order of `scores`.
    max_orders : int, default 10,000
        Up to which number of orders enumeration counts as feasible.

    Returns
    -------
    TieComplexity

    Examples
    --------
    >>> ties = tie_complexity([0.9, 0.8, 0.8, 0.6, 0.6])
    >>> ties.sizes, ties.n_orders, ties.groups[0].doc_ids
    ((2, 2), 4, ('doc2', 'doc3'))
    """
    as_count("max_orders", max_orders)
    ties = tuple(Tie(score, ids) for score, ids in _groups(_documents(scores, doc_ids)) if len(ids) > 1)
    return TieComplexity(ties, math.prod(math.factorial(tie.size) for tie in ties), max_orders)


def tie_orders(
    scores: Ranking,
    relevance: Mapping[str, float | None] | Sequence[float | None],
    measure: MeasureLike = "RR",
    *,
    measures: Measures = None,
    doc_ids: Sequence[str] | None = None,
    max_orders: int = MAX_ORDERS,
) -> TieOrders:
    """List every order of a small ranking's ties, with the value of a measure, or of several, in each.

    Parameters
    ----------
    scores : sequence of float, or dict of str to float
    relevance : sequence of float, or dict of str to float
        Relevance of the same documents; None (or no entry in the dict) for an unjudged one. One at least is judged.
    measure : Measure or str, default "RR"
    measures : measure or iterable of measures, optional
        Several, instead of `measure`.
    doc_ids : sequence of str, optional
        Ids of the documents; by default doc1, doc2, ...
    max_orders : int, default 10,000
        Refuse to list more.

    Returns
    -------
    TieOrders

    Raises
    ------
    ParameterError
        There are more than `max_orders` orders, the lengths differ, or no document is judged.

    Examples
    --------
    >>> listed = tie_orders([0.9, 0.8, 0.8], [0, 1, 0])
    >>> listed.orders
    (('doc1', 'doc2', 'doc3'), ('doc1', 'doc3', 'doc2'))
    >>> listed.values.round(3).tolist(), round(listed.mean, 3)
    ([0.5, 0.333], 0.417)
    >>> tie_orders([0.9, 0.8, 0.8], [0, 1, 0], measures="RR Hit@2").to_polars().rows()
    [(['doc1', 'doc2', 'doc3'], 2, 0.5, 1.0), (['doc1', 'doc3', 'doc2'], 3, 0.3333333333333333, 0.0)]
    """
    documents = _documents(scores, doc_ids)
    judged = _judged(relevance, list(documents))
    ties = tie_complexity(documents, max_orders=max_orders)
    if not ties.feasible:
        raise ParameterError(
            f"{_shown(ties.n_orders)} orders are more than max_orders={max_orders}; evaluate() gives the exact mean"
            f" without listing them, nor drawing {ties.samples_by_rule_of_thumb:,} of them, as a rule of thumb says"
        )
    parsed = (parse_measure(measure),) if measures is None else parse_measures(measures)
    choices = itertools.product(*(itertools.permutations(ids) for _, ids in _groups(documents)))
    orders = tuple(tuple(itertools.chain.from_iterable(choice)) for choice in choices)
    # Every order is a query of its own, so that one call evaluates all of them.
    run = {f"{place:09d}": {doc: documents[doc] for doc in order} for place, order in enumerate(orders)}
    found = evaluate(dict.fromkeys(run, judged), run, parsed, ties="input")
    ranks = (next((n for n, doc in enumerate(order, 1) if judged.get(doc, 0) >= 1), None) for order in orders)
    return TieOrders(
        parsed[0], orders, found[parsed[0]].values, tuple(ranks), {one.label: found[one].values for one in parsed}
    )


def orders_of_query(qrels: Qrels, run: Run, query_id: str, measures: Measures | None = None) -> TieOrders:
    """Return every order of the ties of one query of a run, as :func:`tie_orders` does."""
    judged, own = qrels.to_dict(), run.to_polars().filter(pl.col("query_id") == query_id)
    if query_id not in judged or own.is_empty():
        known = judged.keys() & set(run.to_polars()["query_id"])
        raise DataError(f"no query {query_id!r} in both qrels and run", hint=did_you_mean(query_id, sorted(known)))
    return tie_orders(dict(zip(own["doc_id"], own["score"], strict=True)), judged[query_id], measures=measures)


def _shown(number: int) -> str:
    """Write a number of orders; Python refuses to print more than some thousand digits."""
    return str(number) if number < 10**15 else f"about 10**{int(math.log10(number))}"


def _documents(scores: Ranking, doc_ids: Sequence[str] | None) -> dict[str, float]:
    listed = as_list("scores", scores, "numbers, at least one")
    if not listed:
        raise ParameterError(argument="scores", given=scores, allowed="numbers, at least one")
    if doc_ids is not None and isinstance(scores, Mapping):
        raise ParameterError(argument="doc_ids", given=doc_ids, allowed="None, as the keys of scores are the ids")
    allowed = f"{len(listed)} different ids, one for each score"
    ids = as_list("doc_ids", [f"doc{n}" for n in range(1, len(listed) + 1)] if doc_ids is None else doc_ids, allowed)
    if len(ids) != len(listed) or len(set(ids)) != len(ids):
        raise ParameterError(argument="doc_ids", given=ids, allowed=allowed)
    documents = scores if isinstance(scores, Mapping) else dict(zip(ids, listed, strict=True))
    for doc, score in documents.items():
        check_number("run", "of the ranking", doc, score, "tie_orders")
    return {doc: float(score) for doc, score in documents.items()}


def _judged(relevance: Mapping[str, float | None] | Sequence[float | None], ids: list[str]) -> dict[str, float]:
    if not isinstance(relevance, Mapping):
        values = as_list("relevance", relevance, f"{format_count(len(ids), 'value')}, one for each score")
        if len(values) != len(ids):
            raise ParameterError(
                f"must have {format_count(len(ids), 'value')}, one for each score",
                argument="relevance",
                given=len(values),
            )
        relevance = dict(zip(ids, values, strict=True))
    judged = {doc: value for doc, value in relevance.items() if value is not None}
    if not judged:
        raise ParameterError("relevance must judge at least one document", given=relevance)
    return judged


def _groups(documents: dict[str, float]) -> list[tuple[float, tuple[str, ...]]]:
    """Return the documents by score, highest first."""
    groups = group_values((score + 0.0, doc) for doc, score in documents.items())
    return [(score, tuple(groups[score])) for score in sorted(groups, reverse=True)]
