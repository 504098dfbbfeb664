"""How stable values are: a rule that breaks ties beside the exact values, and whether it makes a difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray
from deadheat.evaluation.evaluate import Difference, difference_of, differences
from deadheat.evaluation.scores import Scores
from deadheat.measures import Measure
from deadheat.wording import NOISE

FEWEST = 3  # queries: a line goes through any two points
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
    difference : Difference
        Of the means, and in the queries.
    with_tie_ratio, with_largest_tie : Correlation
        Of the distance between the two values of a query with the share of its documents that tie, and with the
        documents in its largest tie.
    scores : Scores
        Under the rule.
    """

    difference: Difference
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
    both = ~(np.isnan(one) | np.isnan(other))
    n = int(both.sum())
    if n < FEWEST:
        return Correlation(None, n, f"needs {FEWEST} queries")
    for values, name in zip((one[both], other[both]), names, strict=True):
        if np.ptp(values) <= NOISE * max(1.0, float(np.abs(values).max())):
            return Correlation(None, n, f"{name} is the same in all queries")
    centred, others = (values[both] - values[both].mean() for values in (one, other))
    value = float(centred @ others / math.sqrt(float(centred @ centred) * float(others @ others)))
    return Correlation(min(1.0, max(-1.0, value)), n)


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
    largest = np.where(np.isnan(ratio), np.nan, ties["largest_tie"])
    return Stability(
        difference_of(exact, traditional, rule),
        correlate(ratio, apart, ("the tie ratio", "the difference")),
        correlate(largest, apart, ("the largest tie", "the difference")),
        traditional,
    )


def recommend(scores: Sequence[Scores], n_with_ties: int, n_of_run: int) -> Recommendation | None:
    """Return whether ties have to be counted exactly; None if no query has a relevant document for any measure.

    A measure with an upper bound comes before one without, whose changes are on another scale; then the one whose mean
    can move most.

    Parameters
    ----------
    scores : sequence of Scores
    n_with_ties, n_of_run : int
        Queries of the run with ties, and all of them.
    """
    found = []
    for one in scores:
        low, high = one.reported("tie_min"), one.reported("tie_max")
        if one.has_relevant[one.kept].any():
            found.append((high - low >= VISIBLE, math.isfinite(one.measure.range[1]), high - low, one, low, high))
    if not found:
        return None
    is_exact, _, _, one, low, high = max(found, key=lambda each: each[:3])
    n_decided = int((one.tie_max - one.tie_min > NOISE).sum())
    return Recommendation(is_exact, one.measure, low, high, n_decided, one.n_queries, n_with_ties, n_of_run)
