"""How far a rule that breaks ties is from the exact values, and whether ties have to be counted exactly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.rule_difference import RuleDifference, difference_of, differences
from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE
from deadheat.plugins.ties.decided import Decided

FEWEST = 3  # queries of a correlation: a line goes through any two points
VISIBLE = 0.0001  # a smaller change of a mean does not show in four decimals
RULE_OF_THUMB = 10  # percent of the queries: if more have ties, a tutorial on G-RAG's measures says, count ties exactly


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
