"""Who leads a comparison, whether by more than chance, and whether the order of ties can reverse it.

What is decided is here; the record is a `Verdict` (`verdict.py`), and how it is said stands in `verdict_facts.py`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.design import RANK_TESTS, Design
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.measures import Measure
from deadheat.core.stats import NEGLIGIBLE_DIFFERENCE, adjust, significant
from deadheat.core.wording import UNIT
from deadheat.plugins.compare.least_p import least_p, n_differing, n_units
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.verdict import NEAR, Lacking, Verdict, Within
from deadheat.plugins.compare.verdict_facts import (
    Contest,
    Facts,
    describe_margin,
    describe_no_leader,
    describe_pair,
    describe_power,
    format_number,
    headline_of_pair,
    headline_without_pair,
)

ENOUGH = {"bootstrap": 25}  # queries, with which it finds at most 6.5% instead of 5% (docs/simulations.md)
OUTCOMES = {
    "no quality": "none",
    "no value": "none",
    "few differ": "few",
    "same by values": "same mean",
    "behind": "contradicted",
    "not estimated": "contradicted",
}
"""The outcomes of those kinds of outcome that have another name."""


def _doubt_nothing(_: str) -> str:
    """Say nothing of a system."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """What a verdict is made of.

    Attributes
    ----------
    pairs : Pairs
        Of all measures.
    levels : dict of str to dict of str to float
        The mean (of counts the total) of each system, by measure.
    measures : sequence of Measure
    design : Design
    ties : str
        The tie policy.
    within : mapping of (system, baseline) to Within
        What the tests of a margin say; empty without one.
    detectable : callable
        Returns the difference that a pair's queries find with a power of 80%, None if that is not known; and for how
        many tests its level is corrected.
    by_weight : callable
        Returns of a pair the difference if each query counted the same, and the queries without which its sign
        changes, with their shares of the weight; None without weights.
    lacking : callable
        Returns what judgments a pair lacks, given the name of the rival; None where that is little.
    unit : tuple of str
        What a query is called, in the singular and the plural.
    missing : str
        What is said of queries that a system has no results for; empty if all have results.
    other_chunks : callable
        Returns what is said of a system whose chunks are others than those that were judged; empty without doubt.
    later : str or None
        Of two saves the later one.
    """

    pairs: Pairs
    levels: Mapping[str, Mapping[str, float]]
    measures: Sequence[Measure]
    design: Design
    ties: str
    within: Mapping[tuple[str, str], Within]
    detectable: Callable[[Pair], tuple[float | None, int]]
    lacking: Callable[[Pair, str], Lacking | None]
    by_weight: Callable[[Pair], tuple[float, Mapping[str, float]] | None]
    other_chunks: Callable[[str], str] = _doubt_nothing
    unit: tuple[str, str] = UNIT
    missing: str = ""
    later: str | None = None

    def verdict(self) -> Verdict:
        """Return the verdict by the first measure of quality."""
        measure = next((candidate for candidate in self.measures if candidate.is_quality), None)
        if measure is None:
            return self._without_pair("no quality", self.measures)
        pairs = self.pairs.by(measure.label)
        leader, best = self._leader(measure)
        if not best:
            return self._without_pair("no value", [measure])
        if leader is None and len(self.levels[measure.label]) > 2:
            verdict = self._without_pair("shared", [measure], best)
            margin = describe_margin(measure, pairs, self.design, self.within)
            return replace(verdict, facts={**verdict.facts, **margin})
        return self._of_contest(self._contest(measure, leader, pairs))

    def _without_pair(self, kind: str, measures: Sequence[Measure], best: Sequence[str] = ()) -> Verdict:
        """Return a verdict that is about no pair."""
        names = [measure.label for measure in measures]
        levels = self.levels[names[0]]
        level = format_number(levels[best[0]]) if best else ""
        return Verdict(
            outcome=OUTCOMES.get(kind, kind),
            measure=names[0],
            n_systems=0 if kind == "no quality" else len(levels),
            headline=headline_without_pair(kind, names, best, self.unit[0]),
            facts=describe_no_leader(kind, names, best, level, len(levels)),
        )

    def _contest(self, measure: Measure, leader: str | None, pairs: Pairs) -> Contest:
        """Return the contest of a leader and its rival; of two systems of which none leads, that of the two."""
        rival = None if leader is None else self._rival(measure, leader)
        contestants = np.array([leader, rival], object)
        is_pair = np.isin(pairs.column("system"), contestants) & np.isin(pairs.column("baseline"), contestants)
        pair = pairs[int(np.argmax(is_pair))]  # the first one, if there is none
        levels = self.levels[measure.label]
        if len(levels) == 2:  # over the queries that both have
            scale = pair.n_queries if measure.total else 1
            levels = {pair.system: scale * pair.mean, pair.baseline: scale * pair.baseline_mean}
        other_chunks = [self.other_chunks(name) for name in (leader, rival) if name is not None]
        return Contest(
            measure=measure,
            leader=leader,
            rival=rival,
            pair=pair,
            pairs=pairs,
            levels=levels,
            design=self.design,
            unit=self.unit,
            missing=self.missing,
            other_chunks="; ".join(filter(None, other_chunks)),
            later=self.later,
        )

    def _leader(self, measure: Measure) -> tuple[str | None, list[str]]:
        """Return who leads, and the systems with the best mean; of two systems over the queries that both have."""
        levels = dict(self.levels[measure.label])
        if len(levels) == 2:
            pair = self.pairs.by(measure.label)[0]
            levels = {pair.system: pair.mean, pair.baseline: pair.baseline_mean}
        known = {name: level for name, level in levels.items() if not math.isnan(level)}
        if len(known) < 2:
            return None, []
        top = max(known.values()) if measure.higher_is_better else min(known.values())
        tolerance = NEGLIGIBLE_DIFFERENCE * max(1.0, abs(top))
        best = [name for name, level in known.items() if abs(level - top) <= tolerance]
        leader = best[0] if len(best) == 1 else None
        return leader, best

    def _rival(self, measure: Measure, leader: str) -> str:
        """Return the best of those that the leader was compared with: the baselines, if it is none of them."""
        levels = self.levels[measure.label]
        candidates = [name for name in levels if name != leader]
        if self.design.against and leader not in self.design.against:
            candidates = list(self.design.against)
        return max(candidates, key=lambda name: (not math.isnan(levels[name]), measure.sign * levels[name]))

    def _of_contest(self, contest: Contest) -> Verdict:
        """Return the verdict of a leader and its rival."""
        leader = contest.leader
        least = self._least_p(contest)
        kind = self._kind(contest, least)
        verdict = self._numbers(kind, contest, least)
        weighting = self.by_weight(contest.pair) if leader else None
        shares: Mapping[str, float] = {}
        if weighting is not None:
            unweighted, shares = weighting
            verdict = replace(verdict, unweighted=contest.sign * unweighted, deciding=tuple(shares))
        facts: Facts = describe_pair(kind, verdict, contest, self.ties, shares)
        margin: Facts = {}
        if kind != "none":
            margin = describe_margin(contest.measure, contest.pairs, self.design, self.within)
        if kind == "not shown" and not margin and not contest.pair.doubtful:
            facts |= describe_power(verdict, contest)
        return replace(
            verdict,
            headline=headline_of_pair(kind, verdict, contest, has_doubtful_weights="weights" in facts),
            facts=facts | margin,
        )

    def _numbers(self, kind: str, contest: Contest, least: float) -> Verdict:
        """Return the verdict of a contest without its text and without what the weights make of it."""
        pair = contest.pair
        leader = contest.leader
        low, high = sorted(contest.sign * end for end in pair.ends)
        agreeing, other_leaders = self._compare_measures(contest.measure, leader)
        detectable, n_tests = self._find_detectable(contest)
        favourites = self._favourites(contest)
        n_better = 0 if leader is None else favourites.count(leader)
        n_below, n_above = self._around_baseline(favourites)
        verdict = Verdict(
            outcome=OUTCOMES.get(kind, kind),
            measure=contest.measure.label,
            leader=leader,
            runner_up=contest.rival,
            system=pair.system,
            baseline=pair.baseline,
            is_better=kind == "better",
            p_value=pair.p_value,
            p_adjusted=pair.p_adjusted,
            least_p=least,
            difference=contest.sign * pair.difference,
            low=low,
            high=high,
            n_queries=pair.n_queries,
            n_clusters=pair.n_clusters,
            flip_probability=pair.flip_probability,
            flip_standard_error=pair.flip_standard_error,
            can_flip=pair.can_flip,
            n_systems=len(self.levels[contest.measure.label]),
            n_better=n_better,
            n_compared=_count_pairs_of(leader, contest.pairs),
            agree=agreeing,
            others=other_leaders,
            lacking=self._find_lacking(contest),
            n_effective=pair.n_effective,
            detectable=detectable,
            n_tests=n_tests,
            n_above_baseline=n_above,
            n_below_baseline=n_below,
        )
        test = self.within.get((pair.system, pair.baseline))
        if test is None:
            return verdict
        return replace(verdict, margin=test.margin, no_worse=test.no_worse, equivalent=test.equivalent)

    def _find_lacking(self, contest: Contest) -> Lacking | None:
        """Return what judgments the pair lacks; None where that is little, or there is no rival or query."""
        if not contest.rival or not contest.pair.n_queries:
            return None
        return self.lacking(contest.pair, contest.rival)

    def _compare_measures(self, measure: Measure, leader: str | None) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the other measures of quality by which the leader leads, and who leads by the others.

        A measure by which nobody leads has the empty text.
        """
        agreeing = []
        other_leaders = {}
        for other in self.measures:
            if other.is_quality and other != measure:
                leader_by_other, _ = self._leader(other)
                if leader_by_other is not None and leader_by_other == leader:
                    agreeing.append(other.label)
                else:
                    other_leaders[other.label] = leader_by_other or ""
        return tuple(agreeing), other_leaders

    def _find_detectable(self, contest: Contest) -> tuple[float | None, int]:
        """Return the difference that the queries of a pair find, None if not known, and the tests it accounts for."""
        if contest.pair.n_queries <= 1:
            return None, 1
        detectable, n_tests = self.detectable(contest.pair)
        if detectable is None or math.isnan(detectable):
            return None, n_tests
        return contest.scale * abs(detectable), n_tests

    def _favourites(self, contest: Contest) -> list[str]:
        """Return whom each significant difference favours that is not in doubt."""
        names = []
        for pair in contest.pairs.where(contest.pairs.column("significant")):
            name = find_favourite(pair, contest.measure, self.design)
            if name is not None and not explain_doubt(pair, self.design):
                names.append(name)
        return names

    def _around_baseline(self, favourites: Sequence[str]) -> tuple[int, int]:
        """Return how many systems are significantly worse and significantly better than the one baseline."""
        if self.design.baseline is None:
            return 0, 0
        n_below = favourites.count(self.design.baseline)
        return n_below, len(favourites) - n_below

    def _least_p(self, contest: Contest) -> float:
        """Return what the p value cannot fall below, corrected where a correction only ever raises it."""
        pair, pairs, correction = contest.pair, contest.pairs, self.design.correction
        least = least_p(pair, self.design)
        if not least or correction not in {"holm", "bonferroni"}:
            return least
        is_pair = (pairs.column("system") == pair.system) & (pairs.column("baseline") == pair.baseline)
        p_values = np.where(is_pair, least, pairs.column("p_value"))
        return float(adjust(p_values, correction)[is_pair][0])

    def _kind(self, contest: Contest, least: float) -> str:
        """Return the kind of outcome, of which some have one name."""
        pair, leader, design = contest.pair, contest.leader, self.design
        if not pair.n_queries:
            return "none"
        if leader is None and pair.is_estimated:
            return "same by values"
        if leader is None:
            return "same mean" if pair.wins or pair.losses else "equal"
        if pair.n_queries == 1:
            return "one query"
        if find_favourite(pair, contest.measure, design) == leader:
            return explain_doubt(pair, design) or "better"
        if not is_ahead(pair, contest.measure, leader):
            return "not estimated" if pair.is_estimated else "behind"
        if pair.significant and design.alternative == "two-sided":
            return "contradicted"
        return self._kind_of_open(pair, least)

    def _kind_of_open(self, pair: Pair, least: float) -> str:
        """Return the kind of outcome where the difference is not significant."""
        n = n_units(pair)
        if n < FEWEST and n_differing(pair) == n:
            return "few"
        # whether so few queries differ that no size of their differences is significant
        if least > 0 and not significant([least], 1 - self.design.confidence_level)[0]:
            return "few differ"
        if pair.undecided:
            return "undecided"
        return "few" if n < FEWEST else "not shown"


def _count_pairs_of(system: str | None, pairs: Pairs) -> int:
    """Return in how many pairs a system is."""
    is_in_pair = (pairs.column("system") == system) | (pairs.column("baseline") == system)
    return int(is_in_pair.sum())


def is_ahead(pair: Pair, measure: Measure, name: str | None) -> bool:
    """Return whether the mean difference of a pair is in favour of one of the two."""
    difference = pair.difference if name == pair.system else -pair.difference
    return measure.sign * difference > NEGLIGIBLE_DIFFERENCE


def find_favourite(pair: Pair, measure: Measure, design: Design) -> str | None:
    """Return which of two systems a significant difference favours; None where it is not significant.

    Nor where that cannot be said: a test that is not of the mean must agree with the means and with the numbers of
    queries on which each is better, and a one-sided one favours one side only.
    """
    if not pair.significant:
        return None
    if abs(pair.difference) <= NEGLIGIBLE_DIFFERENCE:
        return None
    if design.alternative == "greater" and pair.difference < 0:
        return None
    if design.alternative == "less" and pair.difference > 0:
        return None
    name, n_won, n_lost = pair.baseline, pair.losses, pair.wins
    if is_ahead(pair, measure, pair.system):
        name, n_won, n_lost = pair.system, pair.wins, pair.losses
    if design.test in RANK_TESTS and n_won <= n_lost:
        return None
    return name


def explain_doubt(pair: Pair, design: Design) -> str:
    """Return why a significant difference decides nothing: "few", "in doubt" (skewed), or empty."""
    if n_units(pair) < ENOUGH.get(design.test, FEWEST):
        return "few"
    is_near = pair.p_adjusted > NEAR * (1 - design.confidence_level)
    return "in doubt" if pair.doubtful and is_near else ""
