"""What a tie profile holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from deadheat.evaluation.scores import Scores
from deadheat.measures import Measure


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and largest of some counts."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class LargestTie:
    """The tie with the most documents (the first such)."""

    query_id: str
    score: float
    n_documents: int


@dataclass(frozen=True)
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
        What all this is worked out from.
    """

    measure: Measure
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float
    n_queries: int
    share_of_queries: float
    share_of_error: float
    worst: tuple[WorstQuery, ...]
    scores: Scores = field(repr=False, compare=False)


@dataclass(frozen=True)
class WorstQuery:
    """A query and the range of its value over tie orders."""

    query_id: str
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float


@dataclass(frozen=True)
class TieProfile:
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
    tie_size : Spread or None
        Documents a tie; None without ties.
    largest : LargestTie or None
    distinct_scores : Spread
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
    is_judged : bool
        Whether the qrels judge any document of the run; True without qrels.
    """

    name: str
    n_queries: int
    n_documents: int
    n_queries_with_ties: int
    n_ties: int
    n_tied: int
    tie_size: Spread | None
    largest: LargestTie | None
    distinct_scores: Spread
    cuts: tuple[Cut, ...]
    n_levels: int
    levels: tuple[tuple[float, int], ...]
    decimals: int | None
    grid: str | None
    decided: tuple[Decided, ...] = ()
    missing_queries: tuple[str, ...] = ()
    unjudged_queries: tuple[str, ...] = ()
    is_judged: bool = True

    @property
    def share_tied(self) -> float:
        """Share of the documents that are in a tie."""
        return self.n_tied / self.n_documents
