"""The verdict of a comparison as a record: who leads, by how much, how sure that is, and what is said of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deadheat.core.scalars import are_of_both_signs, are_of_one_sign

NEAR = 0.1  # of the level: a p value in doubt (skewed differences) that is above this share of it decides nothing


@dataclass(frozen=True)
class Within:
    """What a test of a margin says about a pair: a row of `Comparison.equivalence`.

    Attributes
    ----------
    margin : float
    p_no_worse, p_equivalent : float
    no_worse, equivalent : bool
        Whether the system is shown to be no worse than the baseline by the margin, and both to be equivalent within it.
    """

    margin: float
    p_no_worse: float
    no_worse: bool
    p_equivalent: float
    equivalent: bool


@dataclass(frozen=True)
class Lacking:
    """What is not judged of the two systems of a pair, and what it could make of their difference.

    Attributes
    ----------
    depth : int
    system, baseline : float
        Share of the top documents, up to this depth, that are unjudged, over the queries that each has.
    low, high : float
        Bounds of the difference over labels of unjudged documents; NaN where they are not known.
    is_attained : bool
        Whether some labels give each of them; else they are outer bounds, beyond which no labels lead.
    """

    depth: int
    system: float
    baseline: float
    low: float
    high: float
    is_attained: bool = False

    @property
    def is_safe(self) -> bool:
        """Whether no labels reverse the difference."""
        return are_of_one_sign(self.low, self.high)

    @property
    def is_reversible(self) -> bool:
        """Whether some labels are known to reverse the difference."""
        return self.is_attained and are_of_both_signs(self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Who leads a comparison by its first measure of quality, and how sure that is; ``str(verdict)`` is its text.

    All numbers are those of the pair of leader and rival (:class:`~deadheat.plugins.compare.pairs.Pair`), seen from the
    leader: a lead by a measure of which less is better has a negative difference. Of counts they are of totals.

    Attributes
    ----------
    outcome : str
        "better": significant, and in favour of the leader. "not shown": not significant. "in doubt": significant, but
        the differences are too skewed for so few queries. "few": too few queries, or too few that differ, to show
        anything. "one query".
        "undecided": other resamples may find it significant, or not.
        "equal": the values of all queries are the same. "same mean": those of queries differ. "shared": several of
        many systems have the best mean. "contradicted": a test that is not of the mean, a mean over fewer queries, or
        one with a judge's labels favours the rival. "none": no query has a value for both.
    measure : str
    leader : str or None
        None where the best mean is shared, or there is no value.
    runner_up : str or None
        The rival: the best baseline; the best of the others if the leader is a baseline, or there is none.
    system, baseline : str or None
        The same two as the pair has them.
    is_better : bool
        Whether the outcome is "better": never without significance.
    p_value, p_adjusted : float
    least_p : float
        What `p_adjusted` cannot fall below, as so few queries differ; 0 for tests without such a bound.
    difference, low, high : float
        With several rows by the correction "max-t" the ends are the simultaneous ones.
    n_queries : int
    n_clusters : int or None
    flip_probability : float
        Probability that ties broken at random reverse the order of the two; 0 where no order of them can.
    flip_standard_error : float
        How far that may be off, as of the pair: where it is larger than the probability, or above 0.05, the
        probability is unknown.
    can_flip : bool or None
        Whether some order of the ties does it; None where that is unknown, as of values that came without rankings.
    n_systems, n_better, n_compared : int
        Systems; how many others the leader is shown to be better than, of how many that it is compared with.
    agree : tuple of str
        The other measures by which the leader leads.
    others : dict of str to str
        Who leads by those by which it does not; empty text if nobody does.
    margin : float or None
    no_worse, equivalent : bool or None
        Of `system` against `baseline`; None without a margin.
    lacking : Lacking or None
        Where 10% or more of the rival's top documents are unjudged: the lead may be due to the judgments.
    n_effective : float or None
        With weights: how many queries of equal weight are worth as much.
    detectable : float or None
        The true difference that these queries find with a power of 80%; None where that is not known.
    n_tests : int
        For so many tests the level of `detectable` is corrected.
    unweighted : float or None
        With weights: the difference if each query counted the same, seen from the leader.
    deciding : tuple of str
        With weights: the few queries, up to three, without which the lead is gone.
    n_above_baseline, n_below_baseline : int
        Against one baseline: how many other systems are significantly better, and significantly worse.
    headline : str
        The verdict in at most fifteen words, names of systems and measures as one each.
    facts : dict of str to str
        What the headline rests on: texts by their labels, in the order of their importance.
    """

    outcome: str
    measure: str
    leader: str | None = None
    runner_up: str | None = None
    system: str | None = None
    baseline: str | None = None
    is_better: bool = False
    p_value: float = math.nan
    p_adjusted: float = math.nan
    least_p: float = 0.0
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n_queries: int = 0
    n_clusters: int | None = None
    flip_probability: float = math.nan
    flip_standard_error: float = math.nan
    can_flip: bool | None = False
    n_systems: int = 0
    n_better: int = 0
    n_compared: int = 0
    agree: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    margin: float | None = None
    no_worse: bool | None = None
    equivalent: bool | None = None
    lacking: Lacking | None = None
    n_effective: float | None = None
    detectable: float | None = None
    n_tests: int = 1
    unweighted: float | None = None
    deciding: tuple[str, ...] = ()
    n_above_baseline: int = 0
    n_below_baseline: int = 0
    headline: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return text_of(self.headline, self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Return the text and all fields as JSON can hold them; a value that is not a number becomes None."""
        fields = {name: _plain(value) for name, value in vars(self).items()}
        fields["lacking"] = None
        if self.lacking is not None:
            fields["lacking"] = {name: _plain(value) for name, value in vars(self.lacking).items()}
        return {"text": str(self), **fields}


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value


def text_of(headline: str, facts: Mapping[str, str]) -> str:
    """Return a verdict as text: its headline, and a line for each fact."""
    return "\n".join([headline, *(f"{label}: {text}" for label, text in facts.items())])
