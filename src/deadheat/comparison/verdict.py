"""Verdict: who leads a comparison, whether by more than chance, and whether the order of ties can reverse it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deadheat.comparison.label_bounds import are_of_both_signs, are_of_one_sign
from deadheat.comparison.pairs import (
    LIKELY,
    Pair,
    Pairs,
    beyond_resamples,
    least_adjusted,
    least_p,
    n_differing,
    n_units,
)
from deadheat.errors import (
    BY_DOC_ID,
    UNIT,
    collected,
    counted,
    format_names,
    format_p_value,
    is_share_known,
    level_text,
    percentage,
    rounded,
    three,
)
from deadheat.evaluation.intervals import FEWEST
from deadheat.measures import Measure, unit_of
from deadheat.settings import TUKEY, Design
from deadheat.stats import NEGLIGIBLE_DIFFERENCE, adjust, significant

ENOUGH = {"bootstrap": 25}  # queries, with which it finds at most 6.5% instead of 5% (docs/simulations.md)
NEAR = 0.1  # of the level: a p value in doubt (skewed differences) that is above this share of it decides nothing
OF_NO_MEAN = ("wilcoxon", "sign")  # tests that may contradict the means
DIGITS = 4
UNLIKELY = 0.005  # probability of a reversal below which it is not given
# by the outcome of a verdict, or the key of its first sentence (`FIRST`) where there is one of that name
HEADLINES = {
    "no quality": "Nobody leads: {measures} cannot say how good a system is.",
    "none": "Nothing to compare: no {query} has {measure} of both systems.",
    "shared": "No clear winner: {best} share the best {measure}.",
    "equal": "No winner: {baseline} and {system} are equal by {measure} on every {query}.",
    "same mean": "No winner: {baseline} and {system} have the same {mean} {measure}.",
    "same by humans": "No clear winner: {baseline} and {system} have the same {mean} {measure} by human labels.",
    "one query": "{leader} leads {runner_up} by {measure}, but one {query} proves nothing.",
    "better": "{leader} beats {runner_up}{size}.",
    "better if": "{leader} beats {runner_up}{size}, but {doubts} could reverse it.",
    "few": "{leader} leads {runner_up} by {measure}, but {n_units} prove little.",
    "few differ": "{leader} leads {runner_up} by {measure}, but too few {nouns} differ to prove it.",
    "in doubt": "No clear winner: {leader} leads {runner_up} by {measure}, but chance may explain it.",
    "behind": "No clear winner: {leader} does not lead {runner_up} over the {nouns} of both.",
    "by judge": "No clear winner: {leader} leads {runner_up} by {measure}, but not with the judge's labels.",
    "contradicted": "No clear winner: by {measure}, the means and the {test} test disagree.",
    "not shown": "No clear winner: {leader} and {runner_up} cannot be told apart by {measure}.",
    "untested": "No clear winner: {leader} leads {runner_up} by {measure}, but they could not be tested.",
    "one-sided": "No clear winner: {leader} is not shown better than {runner_up} by {measure}.",
    "equivalent": "No clear winner: {system} and {baseline} are equivalent within {margin:g} {measure}{unit}.",
    "no worse": "No clear winner, but {system} is no worse than {baseline} within {margin:g} {measure}{unit}.",
    "strata": "By {measure}, {leader} leads in {n_led} of {strata}, by more than chance in {n_shown}.",
    "open strata": "No lead by {measure} within any of {strata} is more than chance.",
}
OF_MARGIN = ("not shown", "same mean")  # outcomes of which a margin says more


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
    """Who leads a comparison by its first measure of quality, and how sure that is; ``str(verdict)`` says it in words.

    All numbers are those of the pair of leader and rival (:class:`~deadheat.comparison.pairs.Pair`), seen from the
    leader: a lead by a measure of which less is better has a negative difference. Of counts they are of totals.

    Attributes
    ----------
    outcome : str
        "better": significant, and in favour of the leader. "not shown": not significant. "in doubt": significant, but
        the differences are too skewed for so few queries. "few": too few queries, or too few that differ, to show
        anything. "one query".
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
    n_queries : int
    n_clusters : int or None
    flip_probability : float
        Probability that ties broken at random reverse the order of the two; 0 where no order of them can.
    flip_standard_error : float
        How far that may be off, as of the pair: where it is larger than the probability, or above 0.05, the
        probability is unknown.
    can_flip : bool
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
    headline : str
        The verdict in at most fifteen words, names of systems and measures as one each.
    sentences : tuple of str
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
    can_flip: bool = False
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
    headline: str = ""
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the text and all fields as JSON can hold them; a value that is not a number becomes None."""
        return {
            "text": str(self),
            **{name: _plain(value) for name, value in vars(self).items()},
            "lacking": None
            if self.lacking is None
            else {name: _plain(one) for name, one in vars(self.lacking).items()},
        }


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value


# the first sentence of each outcome
FIRST = {
    "no quality": "{measures} {say} what the data hold, not how good a system is: nobody leads by them.",
    "no value": "No {query} has a value for two systems by {measure}: there is nothing to compare.",
    "none": "No {query} has a value for both {baseline} and {system} by {measure}: there is nothing to compare.",
    "shared": "{best} share the best {measure} ({level}) of {n_systems:,} systems: none of them leads.",
    "equal": "{baseline} and {system} are equal by {measure} {everywhere}.",
    "same mean": "{baseline} and {system} have the same {mean} {measure} ({level}) over {units}, which differ: neither"
    " leads.",
    "same by humans": "{baseline} and {system} have the same {mean} {measure} ({level}) by human labels over {units}:"
    " neither leads; {numbers}.",
    "one query": "{lead}, on one {query} only, which shows nothing about others.",
    "better": "{lead}, and is better than {rival} by more than chance: {numbers}, {units}{near}{rest}.",
    "few": "{lead}, but {n_units} prove little about {rival}: {numbers}, {units}.",
    "few differ": "{lead}, but only {differ}, too few for a {test} test to tell {leader} from {rival}, as {p}"
    " cannot fall below {least}: {numbers}, {units}{rests}.",
    "in doubt": "{lead}, but whether the lead over {rival} is more than chance is undecided, as the differences are too"
    " skewed ({skewness:+.1f}) for so few {nouns} to trust p: {numbers}, {units}{rest}.",
    "behind": "{lead}, but is not ahead over the {queries} that it shares with {rival}: {numbers}, {units}.",
    "by judge": "{lead}, but with the judge's labels {rival} is ahead: {numbers}, {units}.",
    "contradicted": "{lead}, but is not shown better than {rival}: the test, {test}, is not of the means and finds a"
    " difference the other way ({wins} wins, {losses} losses): {numbers}, {units}.",
    "not shown": "{lead}, but is not shown better than {rival}{sided}: {numbers}, {units}{rest}.",
}
# first sentences whose outcome has another name
OUTCOMES = {"no quality": "none", "no value": "none", "few differ": "few", "same by humans": "same mean"} | (
    dict.fromkeys(("behind", "by judge"), "contradicted")
)
JUDGMENTS = {
    "unknown": "The lead of {leads} may be due to the judgments: {shares}.",
    "safe": "{shares}; no labels of unjudged documents reverse the lead of {leads}: the difference is {bounds}.",
    "unsafe": "The lead of {leads} may be due to the judgments: {shares}; with labels for these and other unjudged"
    " documents the difference is {bounds}.",
}
TIES = {
    "policy": "Who is ahead by {measure} depends on how ties are broken ({ties}): over all orders of the ties {ahead}"
    " is ahead by {size}{unit}, and ties broken at random put {behind} ahead {chance}.",
    "never": "No order of tied scores puts {behind} ahead of {ahead} by {measure}.",
    "hardly": "Some order of the ties puts {behind} ahead of {ahead} by {measure}, but ties broken at random hardly"
    " ever do (<1%).",
    "often": "Ties broken at random put {behind} ahead of {ahead} by {measure} {chance}{by_id}.",
}
WEIGHTS = {
    "reversed": "The weights decide: if each {query} counted the same, {leader} would not be ahead of {runner_up} by"
    " {measure} (difference {size}{unit}).",
    "few": "Without {queries} the lead of {leader} by {measure} is gone.",
}
OF_BASELINE = (
    "Of the {n} other systems, {better} significantly better than {of} by {measure}, and {worse} significantly worse."
)
POWER = (
    "By {measure}, these {units} would reliably detect only a difference of {size}{unit} or more between {system} and"
    " {baseline} (80% power, paired t test at the level {level}{uncorrected})."
)
MARGIN = {
    "equivalent": "By {measure}, {system} and {baseline} are equivalent within the margin of {margin:g}{unit} (p {p}).",
    "no worse": "By {measure}, {system} is no worse than {baseline} by the margin of {margin:g}{unit} (p {p}).",
    "not shown": "By {measure}, it is not shown that {system} is no worse than {baseline} by the margin of"
    " {margin:g}{unit}{why}.",
    "pairs": "By {measure}, {pairs} equivalent within the margin of {margin:g}{unit} (t tests, uncorrected).",
    "none": "By {measure}, none of the {n} other systems is shown to be no worse than {baseline} by the margin of"
    " {margin:g}{unit}.",
    "some": "By {measure}, {systems} {are} no worse than {baseline} by the margin of {margin:g}{unit} (t tests,"
    " uncorrected).",
}


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
    unit: tuple[str, str] = UNIT

    def verdict(self) -> Verdict:
        """Return the verdict by the first measure of quality."""
        measure = next((one for one in self.measures if one.is_quality), None)
        words: dict[str, Any] = {
            "query": self.unit[0],
            "measures": three([one.label for one in self.measures]),
            "say": "say" if len(self.measures) > 1 else "says",
        }
        if measure is None:
            return _said("no quality", words | {"measure": self.measures[0].label})
        own = self.pairs.by(measure.label)
        levels = self.levels[measure.label]
        words |= {"measure": measure.label, "n_systems": len(levels), "unit": unit_of(measure)}
        leader, best = self._leader(measure)
        if not best:
            return _said("no value", words)
        if leader is None and len(levels) > 2:
            words |= {"best": format_names(best), "level": number(levels[best[0]])}
            return _said("shared", words, self._of_margin(own, words))
        rival = self._rival(measure, leader) if leader else None
        of_both = [np.isin(own.column(name), np.array([leader, rival], object)) for name in ("system", "baseline")]
        pair = own[int(np.argmax(of_both[0] & of_both[1]))]  # the first one, if there is none
        return self._of_pair(measure, pair, leader, rival, own)

    def _leader(self, measure: Measure) -> tuple[str | None, list[str]]:
        """Return who leads, and the systems with the best mean; of two systems over the queries that both have."""
        levels = dict(self.levels[measure.label])
        if len(levels) == 2:
            pair = self.pairs.by(measure.label)[0]
            levels = {pair.system: pair.mean, pair.baseline: pair.baseline_mean}
        known = {name: level for name, level in levels.items() if not math.isnan(level)}
        if len(known) < 2:
            return None, []
        top = (max if measure.higher_is_better else min)(known.values())
        near = NEGLIGIBLE_DIFFERENCE * max(1.0, abs(top))
        best = [name for name, level in known.items() if abs(level - top) <= near]
        return (best[0] if len(best) == 1 else None), best

    def _rival(self, measure: Measure, leader: str) -> str:
        levels = self.levels[measure.label]
        return max(
            (name for name in self._rivals(leader) or levels if name != leader),
            key=lambda name: (not math.isnan(levels[name]), measure.sign * levels[name]),
        )

    def _rivals(self, leader: str | None) -> tuple[str, ...]:
        """Return the baselines if the leader is none of them: it was compared with them alone; else empty."""
        return () if leader in self.design.against else self.design.against

    def _of_pair(self, measure: Measure, pair: Pair, leader: str | None, rival: str | None, own: Pairs) -> Verdict:
        """Return the verdict of a leader and its rival; `own` are all pairs by the measure."""
        design, scale = self.design, pair.n_queries if measure.total else 1
        sign = -scale if leader == pair.baseline else scale  # differences are seen from the leader
        low, high = sorted((sign * pair.low, sign * pair.high))
        least = self._least_p(pair, own)
        kind = self._kind(measure, pair, leader, least)
        others = {one.label: self._leader(one)[0] or "" for one in self.measures if one.is_quality and one != measure}
        detectable, n_tests = self.detectable(pair) if pair.n_queries > 1 else (None, 1)
        within, by_weight = self.within.get((pair.system, pair.baseline)), self.by_weight(pair) if leader else None
        favourites = [
            favoured(one, measure, design) for one in own.where(own.column("significant")) if not doubt(one, design)
        ]
        found = Verdict(
            outcome=OUTCOMES.get(kind, kind),
            measure=measure.label,
            leader=leader,
            runner_up=rival,
            system=pair.system,
            baseline=pair.baseline,
            is_better=kind == "better",
            p_value=pair.p_value,
            p_adjusted=pair.p_adjusted,
            least_p=least,
            difference=sign * pair.difference,
            low=low,
            high=high,
            n_queries=pair.n_queries,
            n_clusters=pair.n_clusters,
            flip_probability=pair.flip_probability,
            flip_standard_error=pair.flip_standard_error,
            can_flip=pair.can_flip,
            n_systems=len(self.levels[measure.label]),
            n_better=favourites.count(leader) if leader else 0,
            n_compared=int(((own.column("system") == leader) | (own.column("baseline") == leader)).sum()),
            agree=tuple(name for name, other in others.items() if other == leader),
            others={name: other for name, other in others.items() if other != leader},
            margin=None if within is None else within.margin,
            no_worse=None if within is None else within.no_worse,
            equivalent=None if within is None else within.equivalent,
            lacking=self.lacking(pair, rival) if rival and pair.n_queries else None,
            n_effective=pair.n_effective,
            detectable=None if detectable is None or math.isnan(detectable) else scale * abs(detectable),
            n_tests=n_tests,
            unweighted=sign * by_weight[0] if by_weight else None,
            deciding=tuple(by_weight[1]) if by_weight else (),
        )
        words = self._words(found, measure, pair, own, sign)
        of_weights = _weights(found, by_weight[1], measure, self.unit[0]) if by_weight else ""
        sentences = [FIRST[kind].format_map(words), _too_many(pair, own, design)]
        if leader and kind != "none":
            sentences += [
                of_weights,
                _judgments(found, sign),
                _agreement(found, " (human labels)" if pair.is_estimated else ""),
                "" if kind == "by judge" else self._ties(pair, measure, scale),
            ]
            if design.baseline is not None and len(own) > 1:
                worse = favourites.count(design.baseline)
                sentences.append(
                    OF_BASELINE.format_map(
                        {
                            **words,
                            "better": _are(len(favourites) - favourites.count(None) - worse),
                            "worse": _are(worse),
                            "of": design.baseline,
                        }
                    )
                )
        margin = "" if kind == "none" else self._of_margin(own, words)
        if kind == "not shown" and not margin and not pair.doubtful:
            units = f"{words['units']}, with the judge's labels," if pair.is_estimated else words["units"]
            sentences.append(self._power(found, own, words | {"units": units}))
        doubts = {
            "ties (human labels)" if pair.is_estimated else "ties": pair.flip_probability >= LIKELY
            or pair.doc_id_reverses
            or _is_by_policy(pair),
            "missing judgments": found.lacking is not None and found.lacking.is_reversible,
            "weights": bool(of_weights),
        }
        return replace(
            found,
            headline=headline(kind, words, [name for name, is_one in doubts.items() if is_one]),
            sentences=tuple(filter(None, [*sentences, margin])),
        )

    def _least_p(self, pair: Pair, own: Pairs) -> float:
        """Return what the p value cannot fall below, corrected where a correction only ever raises it."""
        least, correction = least_p(pair, self.design), self.design.correction
        if not least or correction not in {"holm", "bonferroni"}:
            return least
        is_it = (own.column("system") == pair.system) & (own.column("baseline") == pair.baseline)
        return float(adjust(np.where(is_it, least, own.column("p_value")), correction)[is_it][0])

    def _kind(self, measure: Measure, pair: Pair, leader: str | None, least: float) -> str:
        """Return the key of the first sentence."""
        design, n = self.design, n_units(pair)
        # whether so few queries differ that no size of their differences is significant
        is_hopeless = least > 0 and not significant([least], 1 - design.confidence_level)[0]
        cases = (  # of which the first holds
            (not pair.n_queries, "none"),
            (leader is None and pair.is_estimated, "same by humans"),
            (leader is None, "same mean" if pair.wins or pair.losses else "equal"),
            (pair.n_queries == 1, "one query"),
            (favoured(pair, measure, design) == leader, doubt(pair, design) or "better"),
            (not is_ahead(pair, measure, leader), "by judge" if pair.is_estimated else "behind"),
            (pair.significant and design.alternative == "two-sided", "contradicted"),
            (n < FEWEST and n_differing(pair) == n, "few"),  # all of them differ
            (is_hopeless, "few differ"),
            (n < FEWEST, "few"),
            (True, "not shown"),
        )
        return next(kind for holds, kind in cases if holds)

    def _words(self, found: Verdict, measure: Measure, pair: Pair, own: Pairs, sign: int) -> dict[str, Any]:
        """Return what the sentences are made of: the fields of the verdict, and texts of three kinds."""
        return {
            **vars(found),
            "n": len(own),
            "unit": unit_of(measure),
            **self._words_of_units(pair),
            **self._words_of_lead(found, measure, pair, sign),
            **self._words_of_test(found, measure, pair, own),
        }

    def _words_of_units(self, pair: Pair) -> dict[str, str]:
        """Return what was counted: queries, or clusters of them."""
        n, differing, queries = n_units(pair), n_differing(pair), counted(pair.n_queries, *self.unit)
        noun = self.unit if pair.n_clusters is None else ("cluster", "clusters")
        units = queries if pair.n_clusters is None else f"{queries} in {counted(pair.n_clusters, 'cluster')}"
        units += "" if pair.n_effective is None else f" worth {pair.n_effective:.1f} of equal weight"
        return {
            "query": self.unit[0],
            "queries": queries,
            "units": units,
            "n_units": f"{n:,} {noun[n != 1]}{'' if pair.n_effective is None else ' by weight'}",
            "nouns": noun[1],
            "everywhere": f"on the only {self.unit[0]}" if pair.n_queries == 1 else f"on each of {units}",
            "differ": f"{differing:,} of {n:,} {noun[n != 1]} differ{'s' * (differing == 1)}",
            "rests": f"; the interval rests on the same {differing:,}"
            if pair.is_known and pair.low * pair.high > 0
            else "",
        }

    def _words_of_lead(self, found: Verdict, measure: Measure, pair: Pair, sign: int) -> dict[str, Any]:
        """Return who leads whom, and by which means; if nobody leads, the baseline of the pair is put first."""
        levels, leader, rival = self.levels[measure.label], found.leader or pair.baseline, found.runner_up
        if len(levels) == 2:  # over the queries that both have
            levels = {pair.system: abs(sign) * pair.mean, pair.baseline: abs(sign) * pair.baseline_mean}
        level, other = number(levels[leader]), number(levels[rival or pair.system])
        held = f"{level} to {other}" if level != other else f"both {level}"
        held += " by human labels" if pair.is_estimated else ""
        held += "" if measure.higher_is_better else ", lower is better"
        name, leads, against = leader, "leads", rival
        if found.n_systems > 2:
            leads = f"is first of {found.n_systems:,} systems"
            name = f"{leader}, the baseline," if leader == self.design.baseline else leader
            best = "best baseline" if self._rivals(found.leader) else "runner-up"
            against = f"the {'baseline' if rival == self.design.baseline else best} {rival}"
        won = "each" if found.n_better == found.n_compared else found.n_better or "none"
        who = f"{found.n_compared} {'baselines' if self._rivals(found.leader) else 'others'}"
        return {
            "mean": "total" if measure.total else "mean",
            "level": level,
            "lead": f"{name} {leads} by {measure.label} ({held})",
            "rival": against,
            "rest": f"; {leader} is better than {won} of the {who} by more than chance" if found.n_compared > 1 else "",
            "wins": pair.wins if leader == pair.system else pair.losses,
            "losses": pair.losses if leader == pair.system else pair.wins,
            "size": size_of(found.difference, measure) + " (differences are skewed)" * pair.doubtful,
        }

    def _words_of_test(self, found: Verdict, measure: Measure, pair: Pair, own: Pairs) -> dict[str, Any]:
        """Return the difference, and what the test says of it; `own` are all pairs by the measure."""
        design = self.design
        p = "adjusted p" if len(own) > 1 and design.correction != "none" and design.test != TUKEY else "p"
        tested = "" if math.isnan(pair.p_adjusted) else f", {p} {format_p_value(pair.p_adjusted)}"
        interval = f", {level_text(design.confidence_level)} CI [{number(found.low)}, {number(found.high)}]"
        difference = "difference with the judge's labels" if pair.is_estimated else "difference"
        return {
            "numbers": f"{difference} {signed(found.difference)}{unit_of(measure)}{interval * pair.is_known}{tested}",
            "near": ", though p is in doubt as the differences are skewed" if pair.doubtful else "",
            "p": p,
            "least": number(found.least_p),
            "skewness": pair.skewness,
            "test": design.test,
            "sided": ""
            if design.alternative == "two-sided"
            else f" (one-sided test, for {pair.system} {design.alternative} than {pair.baseline})",
        }

    def _ties(self, pair: Pair, measure: Measure, scale: int) -> str:
        """Say whether tie order alone can reverse the order of the two."""
        if math.isnan(pair.flip_probability):
            return ""
        exact = pair.expected_difference
        names = (pair.system, pair.baseline)
        ahead, behind = names if (exact > 0) == measure.higher_is_better else names[::-1]
        by_id = f"; ties broken {BY_DOC_ID}, put {behind} ahead" if pair.doc_id_reverses else ""
        cases = (  # of which the first holds
            (_is_by_policy(pair), "policy"),
            (not pair.can_flip, "never"),
            (max(pair.flip_probability, pair.flip_standard_error) < UNLIKELY and not by_id, "hardly"),
            (True, "often"),
        )
        chance = "with a probability that is not known"
        if is_share_known(pair.flip_probability, pair.flip_standard_error):
            chance = f"with a probability of {percentage(pair.flip_probability, pair.flip_standard_error)}"
        return TIES[next(key for holds, key in cases if holds)].format(
            measure=f"{measure.label} (human labels)" if pair.is_estimated else measure.label,
            ties=self.ties,
            ahead=ahead,
            behind=behind,
            size=number(abs(scale * exact)),
            unit=unit_of(measure),
            chance=chance,
            by_id=by_id,
        )

    def _power(self, found: Verdict, own: Pairs, words: Mapping[str, Any]) -> str:
        """Say what so many queries can find, where nothing was shown."""
        if found.detectable is None:
            return ""
        return POWER.format_map(
            {
                **words,
                "size": number(found.detectable),
                "level": f"{1 - self.design.confidence_level:.3g}" + f"/{found.n_tests}" * (found.n_tests > 1),
                "uncorrected": f", not corrected for {len(own)} pairs" if found.n_tests == 1 < len(own) else "",
            }
        )

    def _of_margin(self, own: Pairs, words: Mapping[str, Any]) -> str:
        """Say what a margin shows: that is another statement than that no difference is significant."""
        rows = [(one, self.within[one.system, one.baseline]) for one in own] if self.within else []
        if not rows:
            return ""
        (pair, found), n = rows[0], sum(row.equivalent for _, row in rows)
        shown = [one.system for one, row in rows if row.no_worse]
        if len(rows) > 1:
            key = "pairs" if self.design.baseline is None else "some" if shown else "none"
        else:
            key = "equivalent" if found.equivalent else "no worse" if found.no_worse else "not shown"
        p = format_p_value(found.p_equivalent if key == "equivalent" else found.p_no_worse)
        return MARGIN[key].format_map(
            {
                **words,
                "system": pair.system,
                "baseline": pair.baseline,
                "margin": found.margin,
                "n": len(rows),
                "p": p,
                "why": f": {words.get('n_units')} cannot show it" if n_units(pair) < FEWEST else f" (p {p})",
                "pairs": f"{n or 'none'} of {len(rows)} pairs {'is' if n == 1 else 'are'}",
                "systems": f"{three(shown)} ({len(shown)} of the {len(rows)} other systems)",
                "are": "is" if len(shown) == 1 else "are",
            }
        )


def _said(kind: str, words: Mapping[str, Any], *more: str) -> Verdict:
    """Return a verdict without a pair."""
    return Verdict(
        outcome=OUTCOMES.get(kind, kind),
        measure=words["measure"],
        n_systems=words.get("n_systems", 0),
        headline=headline(OUTCOMES.get(kind, kind) if kind != "no quality" else kind, words),
        sentences=tuple(filter(None, (FIRST[kind].format_map(words), *more))),
    )


def _too_many(pair: Pair, own: Pairs, design: Design) -> str:
    """Say what can be significant, where the correction raises p of resamples too far."""
    n_tests, least = least_adjusted(own, design)
    if pair.exact_p_value or pair.is_estimated or significant([least], 1 - design.confidence_level)[0]:
        return ""
    text = f"p of {design.test_resamples:,} resamples, corrected for {n_tests:,} differences, is at least"
    return f"{text} {number(least)}: {beyond_resamples(n_tests, design)}."


def _is_by_policy(pair: Pair) -> bool:
    """Whether the tie policy alone puts the leader ahead: over all orders of the ties the other one is."""
    exact = pair.expected_difference
    found = pair.difference if pair.judged is None else pair.judged.difference  # ties are those by human labels
    return exact * found < 0 and abs(exact) > NEGLIGIBLE_DIFFERENCE


def _are(n: int) -> str:
    return f"{n or 'none'} {'is' if n == 1 else 'are'}"


def _weights(found: Verdict, shares: Mapping[str, float], measure: Measure, query: str) -> str:
    """Say whether the weights decide who leads, and which queries do by theirs."""
    words = {
        **vars(found),
        "query": query,
        "queries": three([f"{one} ({percentage(share)} of the weight)" for one, share in shares.items()], " and "),
        "unit": unit_of(measure),
        "size": signed(found.unweighted or 0.0),
    }
    is_ahead = (found.unweighted or 0.0) * measure.sign > NEGLIGIBLE_DIFFERENCE
    return " ".join(WEIGHTS[key].format_map(words) for key in ["reversed"] * (not is_ahead) + ["few"] * bool(shares))


def _judgments(found: Verdict, sign: int) -> str:
    """Say what is not judged, and what that could make of the lead."""
    lacking = found.lacking
    if lacking is None:
        return ""
    of_rival, own = _unjudged_shares(found, lacking)
    low, high = sorted(sign * end for end in (lacking.low, lacking.high))
    kind = "exact bounds" if lacking.is_attained else "outer bounds"
    return JUDGMENTS["unknown" if math.isnan(lacking.low) else "safe" if lacking.is_safe else "unsafe"].format(
        leads=f"{found.leader} over {found.runner_up} by {found.measure}",
        shares=f"{of_rival} of the top {lacking.depth} documents of {found.runner_up} are unjudged, and {own} of those"
        f" of {found.leader}",
        bounds=f"{signed(low)} to {signed(high)}{unit_of(found.measure)} ({kind})",
    )


def _unjudged_shares(found: Verdict, lacking: Lacking) -> tuple[str, str]:
    """Return the shares of the rival and of the leader."""
    shares = percentage(lacking.baseline), percentage(lacking.system)
    return shares if found.leader == found.system else shares[::-1]


def _agreement(found: Verdict, by: str) -> str:
    """Say who leads by the other measures; `by` says by what, if that is not clear."""
    said = [f"{found.leader} leads by {three(found.agree)} too{by}"] if found.agree else []
    for leader, names in collected((leader, name) for name, leader in found.others.items()).items():
        said.append(f"{leader or ('nobody' if said else 'Nobody')} leads by {three(names)}{by}")
    return f"{'; '.join(said)}." if said else ""


def is_ahead(pair: Pair, measure: Measure, name: str | None) -> bool:
    """Return whether the mean difference of a pair is in favour of one of the two."""
    return measure.sign * (pair.difference if name == pair.system else -pair.difference) > NEGLIGIBLE_DIFFERENCE


def favoured(pair: Pair, measure: Measure, design: Design) -> str | None:
    """Return which of two systems a significant difference favours; None where it is not significant.

    Nor where that cannot be said: a test that is not of the mean must agree with the means and with the numbers of
    queries on which each is better, and a one-sided one favours one side only.
    """
    if not pair.significant:
        return None
    side = {"two-sided": pair.difference, "greater": 1.0, "less": -1.0}[design.alternative]
    if pair.difference * side <= 0 or abs(pair.difference) <= NEGLIGIBLE_DIFFERENCE:
        return None
    name = pair.system if is_ahead(pair, measure, pair.system) else pair.baseline
    won = pair.wins - pair.losses if name == pair.system else pair.losses - pair.wins
    return None if design.test in OF_NO_MEAN and won <= 0 else name


def doubt(pair: Pair, design: Design) -> str:
    """Return why a significant difference decides nothing: "few", "in doubt" (skewed), or empty."""
    if n_units(pair) < ENOUGH.get(design.test, FEWEST):
        return "few"
    return "in doubt" if pair.doubtful and pair.p_adjusted > NEAR * (1 - design.confidence_level) else ""


def sentences_of_strata(verdicts: Mapping[str, Verdict], what: tuple[str, str]) -> tuple[str, ...]:
    """Return the sentences of a comparison by strata: who leads in which, and where by more than chance.

    Parameters
    ----------
    verdicts : mapping of str to Verdict
        By the name of the stratum, in order.
    what : tuple of str
        What a stratum is called, in the singular and the plural.
    """
    measure, n = next(iter(verdicts.values())).measure, len(verdicts)
    leads = collected((one.leader or "", stratum) for stratum, one in verdicts.items())
    who = (
        f"{name or 'nobody'} leads in {'all ' if len(own) == n > 1 else ''}{len(own)} ({three(own)})"
        for name, own in sorted(leads.items(), key=lambda item: (not item[0], -len(item[1])))
    )
    shown = []
    for stratum, verdict in verdicts.items():
        if verdict.is_better:
            size = f"{signed(verdict.difference)}{unit_of(measure)}"
            numbers = f"{size}, p {format_p_value(verdict.p_adjusted)}, n = {verdict.n_queries:,}"
            if verdict.low <= 0 <= verdict.high:
                numbers += "; its interval has 0"
            shown.append(f"{verdict.leader} is better than {verdict.runner_up} in {stratum} ({numbers})")
    rest = f"; no lead is shown to be more than chance in {n - len(shown)} of {n}" if len(shown) < n else ""
    chance = f"By {measure} and by more than chance, {three(shown, '; ')}{rest}."
    unjudged = [
        f"{stratum} ({_unjudged_shares(one, one.lacking)[0]} of the top {one.lacking.depth} of {one.runner_up}"
        " unjudged)"
        for stratum, one in verdicts.items()
        if one.lacking and not one.lacking.is_safe
    ]
    pair = next((one for one in verdicts.values() if one.margin is not None and one.n_systems == 2), None)
    held = [stratum for stratum, one in verdicts.items() if one.no_worse]
    where = f"{len(held)} of {n} ({three(held)})" if held else f"none of {n}"
    flips, unknown_flips = [], []
    for stratum, verdict in verdicts.items():
        pair_of_stratum = f"{stratum} ({verdict.system} / {verdict.baseline}"
        if not verdict.can_flip:
            continue
        if not is_share_known(verdict.flip_probability, verdict.flip_standard_error):
            unknown_flips.append(f"{pair_of_stratum})")
        elif verdict.flip_probability >= LIKELY:
            flips.append(f"{pair_of_stratum}: {percentage(verdict.flip_probability)})")
    sentences = (
        f"By {measure}, of {counted(n, *what)}, {', '.join(who)}.",
        chance if shown else f"No lead by {measure} is shown to be more than chance.",
        unjudged and f"The lead by {measure} may be due to the judgments in {three(unjudged, '; ')}.",
        pair
        and f"By {measure}, {pair.system} is shown to be no worse than {pair.baseline} by the margin of"
        f" {pair.margin:g}{unit_of(measure)} in {where}.",
        flips
        and f"Ties broken at random reverse the order of the exact {measure} of leader and rival with a probability of"
        f" {LIKELY:.0%} or more in {three(flips, '; ')}.",
        unknown_flips
        and "Some order of the ties reverses that of leader and rival, with a probability that is not known, in"
        f" {three(unknown_flips, '; ')}.",
    )
    return tuple(str(one) for one in sentences if one)


def headline_of_strata(verdicts: Mapping[str, Verdict], what: tuple[str, str]) -> str:
    """Return the headline of a comparison by strata; the arguments are those of `sentences_of_strata`."""
    leaders = [one.leader or "" for one in verdicts.values()]
    better = [one.leader for one in verdicts.values() if one.is_better]
    leader = max(filter(None, leaders), key=leaders.count, default="")
    words = {
        "measure": next(iter(verdicts.values())).measure,
        "strata": counted(len(verdicts), *what),
        "leader": leader,
        "n_led": leaders.count(leader),
        "n_shown": better.count(leader) or "none",
    }
    return headline("strata" if better else "open strata", words)


def number(value: float) -> str:
    """Return a number with four decimals, as tables have it."""
    is_large_whole = float(value).is_integer() and abs(value) >= 10
    return "-" if math.isnan(value) else f"{value:,.0f}" if is_large_whole else rounded(value, DIGITS)


def signed(value: float) -> str:
    """Return a number with its sign."""
    shown = number(value)
    return shown if shown.startswith("-") or not value else f"+{shown}"


def headline(kind: str, words: Mapping[str, Any], doubts: Sequence[str] = ()) -> str:
    """Return the headline of an outcome.

    Parameters
    ----------
    kind : str
        A key of `HEADLINES`.
    words : mapping
        The fields of the verdict, and what else its sentences are made of.
    doubts : sequence of str
        What could reverse a lead that is more than chance, such as "ties".
    """
    cases = (  # of which the first holds
        (kind in OF_MARGIN and words.get("equivalent"), "equivalent"),
        (kind in OF_MARGIN and words.get("no_worse"), "no worse"),
        (kind == "not shown" and math.isnan(words["p_adjusted"]), "untested"),
        (kind == "not shown" and words["sided"], "one-sided"),
        (kind == "better" and doubts, "better if"),
        (True, kind),
    )
    held = {"doubts": " and ".join(filter(None, (", ".join(doubts[:-1]), *doubts[-1:])))}
    if len(doubts) > 1:  # no room for the size
        held["size"] = f" by {words['measure']}"
    return HEADLINES[next(one for holds, one in cases if holds)].format_map({**words, **held})


def size_of(difference: float, measure: Measure) -> str:
    """Return how large a lead is, in points where a measure goes from 0 to 1.

    Examples
    --------
    >>> from deadheat import MR, nDCG
    >>> size_of(0.0412, nDCG @ 10), size_of(0.0098, nDCG @ 10), size_of(-1.25, MR())
    (' by about 4.1 points of nDCG@10', ' by about 0.98 points of nDCG@10', ' by about 1.2 in MR')
    """
    if measure.geometric:
        return f" by {measure.label}"  # its differences are those of logarithms
    is_share = max(map(abs, measure.range)) <= 1 and not measure.total
    size = abs(difference) * (100 if is_share else 1)
    about = rounded(size, max(0, 1 - math.floor(math.log10(size))) if size else 0)
    about = about.rstrip("0").rstrip(".") if "." in about else about
    points = f" {'point' if about == '1' else 'points'} of" if is_share else " in"
    return f" by about {about}{points} {measure.label}"
