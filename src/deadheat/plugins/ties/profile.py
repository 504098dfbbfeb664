"""tie_profile() and what it returns: how many documents of a run share their score, and what their order decides.

With qrels also what `decided` and `stability` find.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from deadheat.core.arrays import IntArray
from deadheat.core.checks import MAX_DECIMALS, as_cutoffs, check_choice
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluate import find_tie_keys
from deadheat.core.evaluation.rule_difference import differences
from deadheat.core.evaluation.warned import warn
from deadheat.core.measures import Measure
from deadheat.core.measures.gains import LOWEST_POSITIVE
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.measures.selection import choose_measures
from deadheat.core.placements.grouping import ScoreGroups, group_run, select_queries
from deadheat.core.placements.place import open_pair
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.policies import LOOK_AT_RUN
from deadheat.core.settings import Conventions
from deadheat.core.wording import escape_invisible, format_count, format_record
from deadheat.plugins.ties.beside import evaluate_beside
from deadheat.plugins.ties.decided import BY_MEASURE, Decided, find_decided
from deadheat.plugins.ties.levels import GRIDS, find_levels, is_kept, is_on_grid
from deadheat.plugins.ties.stability import Recommendation, Stability, recommend, stability_of

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)

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

    __repr__ = format_record


@dataclass(frozen=True)
class LargestTie:
    """The tie with the most documents (the first such)."""

    query_id: str
    score: float
    n_documents: int


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

    def figures_by_default(self) -> tuple[str, ...]:
        """Return the figures that are shown of this profile; none of one query, as each would show single points."""
        return () if self.queries.height == 1 else super().figures_by_default()

    def to_polars(self) -> pl.DataFrame:
        """Return what the order of ties decides: a row for each measure, none without qrels.

        Returns
        -------
        polars.DataFrame
            measure, mean, tie_std, tie_min, tie_max (of the mean over queries), n_queries (whose value depends on the
            order), share_of_queries and share_of_error, as in :class:`Decided`.
        """
        return make_frame(
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
        ties = select_queries(self.queries, self.placements.query_ids.tolist())
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
    ascending: bool = False,
    duplicates: str = "error",
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
    ascending, duplicates, then_by
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
    keys, run = find_tie_keys(run, then_by), Run.of(run, ascending=ascending, duplicates=duplicates)
    check_tables(run)
    scored, run = group_run(run), run.then_by(*keys)
    if not len(scored.query_ids):
        raise DataError("it has queries without documents alone, so nothing ties", path=run.where)
    profile = replace(_describe(run.name, group_run(run) if keys else scored, scored, cutoffs), notes=run.notes)
    if qrels is None:
        return profile
    qrels, run = open_pair(qrels, run)
    chosen = choose_measures(find_kind_of_qrels(qrels), measures)
    exact, traditional = evaluate_beside(
        Conventions(missing=missing, no_relevant=no_relevant), qrels, run, chosen, beside
    )
    warn({run.where: exact}, qrels, {run.where: run})
    ties = select_queries(profile.queries, exact.query_ids.tolist())
    is_judged = len(exact.placements.query) > 0
    decided = tuple(map(find_decided, exact))
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


def _describe(name: str, found: ScoreGroups, scored: ScoreGroups, at: Sequence[int]) -> TieProfile:
    """Describe ties; `scored` are those of the scores alone, before other keys broke some of them."""
    n_queries, largest = len(found.query_ids), None
    if len(found.tie_size):
        place = int(found.tie_size.argmax())
        query, above = found.query_ids[int(found.tie_query[place])], found.tie_above[place]
        is_own = scored.tie_query == scored.query_ids.to_list().index(query)
        largest = LargestTie(
            query, float(scored.tie_score[is_own & (scored.tie_above <= above)][-1]), int(found.tie_size[place])
        )
    cuts = [
        (cutoff, int(((found.tie_above < cutoff) & (found.tie_above + found.tie_size > cutoff)).sum())) for cutoff in at
    ]
    n_levels, levels = find_levels(scored.scores, scored.sizes)
    decimals = next((n for n in range(MAX_DECIMALS + 1) if is_kept(scored.scores, n)), None)
    return TieProfile(
        name=name,
        n_queries=n_queries,
        n_documents=int(found.n_documents.sum()),
        n_queries_with_ties=len(np.unique(found.tie_query)),
        n_ties=len(found.tie_size),
        n_tied=int(found.tie_size.sum()),
        tie_size=_spread(found.tie_size) if len(found.tie_size) else None,
        largest=largest,
        distinct_scores=_spread(scored.n_groups),
        cuts=tuple(Cut(cutoff, n, n / n_queries) for cutoff, n in cuts),  # a query has at most one such tie
        n_levels=n_levels,
        levels=levels,
        decimals=decimals,
        grid=next((grid for grid in GRIDS if is_on_grid(scored.scores, grid, decimals)), None),
        queries=found.describe_queries(),
    )


def _spread(counts: IntArray) -> CountRange:
    return CountRange(int(counts.min()), float(np.median(counts)), int(counts.max()))
