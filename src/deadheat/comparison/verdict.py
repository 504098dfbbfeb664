"""Verdict: who leads a comparison, whether by more than chance, and whether the order of ties can reverse it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadheat.comparison.pairs import TUKEY, Design, Pair, least_p, n_differing
from deadheat.evaluation.intervals import FEWEST
from deadheat.measures import Measure
from deadheat.stats import adjust, significant
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.wording import BY_DOC_ID, counted, rounded, three

QUERY = ("query", "queries")
ENOUGH = {"bootstrap": 25}  # queries, with which it finds at most 6.5% instead of 5% (docs/statistics.md)
NEAR = 0.1  # of the level: a p value in doubt (skewed differences) that is above this share of it decides nothing
OF_NO_MEAN = ("wilcoxon", "sign")  # tests that may contradict the means
DIGITS = 4
UNLIKELY, LIKELY = 0.005, 0.05  # probabilities of a reversal: below which it is not given, from which strata name it
VAGUE = 0.05  # a probability that may be off by more is said to be unknown


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
        Outer bounds of the difference over labels of unjudged documents; NaN where they are not known.
    """

    depth: int
    system: float
    baseline: float
    low: float
    high: float

    @property
    def is_safe(self) -> bool:
        """Whether no labels reverse the difference."""
        return self.low > 0 or self.high < 0


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
        many systems have the best mean. "contradicted": a test that is not of the mean, or a mean over fewer queries,
        favours the rival. "none": no query has a value for both.
    measure : str
    leader : str or None
        None where the best mean is shared, or there is no value.
    runner_up : str or None
        The rival: the baseline; the best of the others if the leader is the baseline, or there is none.
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
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the text and all fields as JSON can hold them; what is no number is None."""
        held = {"text": str(self), **_finite(vars(self))}
        return held | {"lacking": None if self.lacking is None else _finite(vars(self.lacking))}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as JSON can hold them."""
    return {
        name: None
        if isinstance(value, float) and not math.isfinite(value)
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in values.items()
    }


@dataclass(frozen=True)
class Judge:
    """What a verdict is made of.

    Attributes
    ----------
    pairs : sequence of Pair
        Of all measures.
    levels : dict of str to dict of str to float
        The mean (of counts the total) of each system, by measure.
    measures : sequence of Measure
    design : Design
    ties : str
        The tie policy.
    within : mapping of Pair to Within
        What the tests of a margin say; empty without one.
    detectable : callable
        Returns the difference that a pair's queries find with a power of 80%, None if that is not known; and for how
        many tests its level is corrected.
    lacking : callable
        Returns what judgments a pair lacks, given the name of the rival; None where that is little.
    unit : tuple of str
        What a query is called, in the singular and the plural.
    """

    pairs: Sequence[Pair]
    levels: Mapping[str, Mapping[str, float]]
    measures: Sequence[Measure]
    design: Design
    ties: str
    within: Mapping[Pair, Within]
    detectable: Callable[[Pair], tuple[float | None, int]]
    lacking: Callable[[Pair, str], Lacking | None]
    unit: tuple[str, str] = QUERY

    def verdict(self) -> Verdict:
        """Return the verdict by the first measure of quality."""
        measure = next((one for one in self.measures if one.is_quality), None)
        if measure is None:
            told = three([one.label for one in self.measures])
            data = f"{told} say what the data hold, not how good a system is: nobody leads by them."
            return Verdict(outcome="none", measure=self.measures[0].label, sentences=(data,))
        own = [pair for pair in self.pairs if pair.measure == measure.label]
        names = list(self.levels[measure.label])
        leader, best = self._leader(measure)
        if not best:
            nothing = f"No {self.unit[0]} has a value for two systems by {measure.label}: there is nothing to compare."
            return Verdict(outcome="none", measure=measure.label, n_systems=len(names), sentences=(nothing,))
        if leader is None and len(names) > 2:
            level = number(self.levels[measure.label][best[0]])
            of_all = f"the best {measure.label} ({level}) of {len(names):,} systems: none of them leads."
            said = f"{three(best, ' and ' if len(best) == 2 else ', ')} share {of_all}"
            sentences = tuple(filter(None, (said, _OfPair(self, measure, own[0], None, None, own).of_margin())))
            return Verdict(outcome="shared", measure=measure.label, n_systems=len(names), sentences=sentences)
        rival = self._rival(measure, leader) if leader else None
        pair = next((one for one in own if {one.system, one.baseline} == {leader, rival}), own[0])
        return _OfPair(self, measure, pair, leader, rival, own).verdict()

    def _leader(self, measure: Measure) -> tuple[str | None, list[str]]:
        """Return who leads, and the systems with the best mean; of two systems over the queries that both have."""
        levels = dict(self.levels[measure.label])
        if len(levels) == 2:
            pair = next(one for one in self.pairs if one.measure == measure.label)
            levels = {pair.system: pair.mean, pair.baseline: pair.baseline_mean}
        known = {name: level for name, level in levels.items() if not math.isnan(level)}
        if len(known) < 2:
            return None, []
        top = (max if measure.higher_is_better else min)(known.values())
        near = NEGLIGIBLE_DIFFERENCE * max(1.0, abs(top))
        best = [name for name, level in known.items() if abs(level - top) <= near]
        return (best[0] if len(best) == 1 else None), best

    def _rival(self, measure: Measure, leader: str) -> str:
        baseline = self.design.baseline
        if baseline is not None and baseline != leader:
            return baseline
        sign = 1 if measure.higher_is_better else -1
        others = {name: sign * level for name, level in self.levels[measure.label].items() if name != leader}
        return max(others, key=lambda name: (not math.isnan(others[name]), others[name]))

    def other_leaders(self, leader: str | None) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the other measures by which it leads, and who leads by those by which it does not."""
        _, *others = [one for one in self.measures if one.is_quality]
        found = {one.label: self._leader(one)[0] or "" for one in others}
        agree = tuple(name for name, own in found.items() if own == leader)
        return agree, {name: own for name, own in found.items() if own != leader}


@dataclass(frozen=True)
class _OfPair:
    """The verdict of a leader and its rival."""

    judge: Judge
    measure: Measure
    pair: Pair
    leader: str | None
    rival: str | None
    own: Sequence[Pair]

    def verdict(self) -> Verdict:
        pair = self.pair
        low, high = sorted((self._sign * pair.low, self._sign * pair.high))
        outcome, (agree, others) = self._outcome(), self.judge.other_leaders(self.leader)
        within = self.judge.within.get(pair)
        won, compared = self._won()
        lacking = self.judge.lacking(pair, self.rival) if self.rival and pair.n_queries else None
        return Verdict(
            outcome=outcome,
            measure=self.measure.label,
            leader=self.leader,
            runner_up=self.rival,
            system=pair.system,
            baseline=pair.baseline,
            is_better=outcome == "better",
            p_value=pair.p_value,
            p_adjusted=pair.p_adjusted,
            least_p=self._least_p(),
            difference=self._sign * pair.difference,
            low=low,
            high=high,
            n_queries=pair.n_queries,
            n_clusters=pair.n_clusters,
            flip_probability=pair.flip_probability,
            can_flip=pair.can_flip,
            n_systems=len(self.judge.levels[self.measure.label]),
            n_better=len(won),
            n_compared=len(compared),
            agree=agree,
            others=others,
            margin=None if within is None else within.margin,
            no_worse=None if within is None else within.no_worse,
            equivalent=None if within is None else within.equivalent,
            lacking=lacking,
            sentences=tuple(filter(None, self._sentences(outcome, agree, others, lacking))),
        )

    @property
    def _scale(self) -> int:
        return self.pair.n_queries if self.measure.total else 1

    @property
    def _sign(self) -> int:
        """What makes a difference of the pair one that is seen from the leader."""
        return -self._scale if self.leader == self.pair.baseline else self._scale

    @property
    def _n_units(self) -> int:
        return self.pair.n_queries if self.pair.n_clusters is None else self.pair.n_clusters

    def _units(self) -> str:
        pair = self.pair
        of_queries = counted(pair.n_queries, *self.judge.unit)
        return of_queries if pair.n_clusters is None else f"{of_queries} in {counted(pair.n_clusters, 'cluster')}"

    def _outcome(self) -> str:
        pair, design = self.pair, self.judge.design
        if not pair.n_queries:
            return "none"
        if self.leader is None:
            return "same mean" if pair.wins or pair.losses else "equal"
        if pair.n_queries == 1:
            return "one query"
        if favoured(pair, self.measure, design) == self.leader:
            return doubt(pair, design) or "better"
        if not is_ahead(pair, self.measure, self.leader) or (pair.significant and design.alternative == "two-sided"):
            return "contradicted"
        return "few" if self._n_units < FEWEST or self._is_hopeless() else "not shown"

    def _least_p(self) -> float:
        """Return what the p value cannot fall below, corrected where a correction only ever raises it."""
        least, design = least_p(self.pair, self.judge.design), self.judge.design
        if not least or design.correction not in {"holm", "bonferroni"}:
            return least
        ps = [least if one is self.pair else one.p_value for one in self.own]
        return float(adjust(ps, design.correction)[ps.index(least)])

    def _is_hopeless(self) -> bool:
        """Whether so few queries differ that no size of their differences is significant."""
        least = self._least_p()
        return least > 0 and not significant([least], 1 - self.judge.design.confidence_level)[0]

    def _won(self) -> tuple[list[str], list[Pair]]:
        """Return whom the leader is shown to be better than, and the pairs that it is in."""
        design, leader = self.judge.design, self.leader
        compared = [one for one in self.own if leader in {one.system, one.baseline}]
        won = [one for one in compared if favoured(one, self.measure, design) == leader and not doubt(one, design)]
        return [one.baseline if one.system == leader else one.system for one in won], compared

    # sentences

    def _sentences(
        self, outcome: str, agree: Sequence[str], others: Mapping[str, str], lacking: Lacking | None
    ) -> list[str]:
        pair, unit = self.pair, self.judge.unit
        one, other = pair.baseline, pair.system
        if outcome == "none":
            both = f"both {one} and {other} by {self.measure.label}"
            return [f"No {unit[0]} has a value for {both}: there is nothing to compare."]
        if outcome == "equal":
            every = f"on the only {unit[0]}" if pair.n_queries == 1 else f"on each of {self._units()}"
            return [f"{one} and {other} are equal by {self.measure.label} {every}.", self.of_margin()]
        if outcome == "same mean":
            same = f"{one} and {other} have the same {self._level_name} {self.measure.label} ({self._level(one)})"
            return [f"{same} over {self._units()}, which differ: neither leads.", self.of_margin()]
        first = f"{self._lead()}{self._chance(outcome)}."
        return [
            first,
            self._judgments(lacking) if lacking else "",
            self._agreement(agree, others),
            self._ties(),
            self._of_baseline(),
            self.of_margin() or self._power(outcome),
        ]

    @property
    def _level_name(self) -> str:
        return "total" if self.measure.total else "mean"

    def _level(self, name: str) -> str:
        levels = self.judge.levels[self.measure.label]
        if len(levels) == 2:  # over the queries that both have
            mean = self.pair.mean if name == self.pair.system else self.pair.baseline_mean
            return number(math.exp(mean) if self.measure.geometric else self._scale * mean)
        return number(levels[name])

    def _lead(self) -> str:
        leader, n_systems = self.leader, len(self.judge.levels[self.measure.label])
        own, other = self._level(str(leader)), self._level(str(self.rival))
        held = f"{own} to {other}" if own != other else f"both {own}"
        lower = "" if self.measure.higher_is_better else ", lower is better"
        leads = f"is first of {n_systems:,} systems" if n_systems > 2 else "leads"
        name = f"{leader}, the baseline," if leader == self.judge.design.baseline and n_systems > 2 else leader
        return f"{name} {leads} by {self.measure.label} ({held}{lower})"

    def _rival_name(self) -> str:
        n_systems = len(self.judge.levels[self.measure.label])
        if n_systems == 2:
            return str(self.rival)
        return (
            f"the baseline {self.rival}" if self.rival == self.judge.design.baseline else f"the runner-up {self.rival}"
        )

    def _chance(self, outcome: str) -> str:
        pair, rival, numbers = self.pair, self._rival_name(), self._numbers()
        if outcome == "one query":
            return f", on one {self.judge.unit[0]} only, which shows nothing about others"
        if outcome == "better":
            near = ", though p is in doubt as the differences are skewed" if pair.doubtful else ""
            return f", and is better than {rival} by more than chance: {numbers}{near}{self._rest()}"
        if outcome == "few":
            return f", but {self._few()}"
        if outcome == "in doubt":
            skewed = f"the differences are too skewed ({pair.skewness:+.1f}) for so few {self._noun(2)} to trust p"
            lead = f"the lead over {rival} is more than chance"
            return f", but whether {lead} is undecided, as {skewed}: {numbers}{self._rest()}"
        if outcome == "contradicted":
            return f", but {self._contradiction()}{numbers}"
        sided = self.judge.design.alternative
        only = "" if sided == "two-sided" else f" (one-sided test, for {pair.system} {sided} than {pair.baseline})"
        return f", but is not shown better than {rival}{only}: {numbers}{self._rest()}"

    def _few(self) -> str:
        """Say what is too few: the queries, or those that differ."""
        pair, n, n_units = self.pair, n_differing(self.pair), self._n_units
        if not self._is_hopeless() or n == n_units < FEWEST:
            return f"{self._n_units_only()} prove little about {self._rival_name()}: {self._numbers()}"
        differ = f"only {n:,} of {self._n_units_only()} differ{'s' if n == 1 else ''}, too few for a"
        rests = f"; the interval rests on the same {n:,}" if pair.is_known and pair.low * pair.high > 0 else ""
        return (
            f"{differ} {self.judge.design.test} test to tell {self.leader} from {self._rival_name()}, as"
            f" {self._p_name()} cannot fall below {number(self._least_p())}: {self._numbers()}{rests}"
        )

    def _contradiction(self) -> str:
        pair, design = self.pair, self.judge.design
        if not is_ahead(pair, self.measure, str(self.leader)):
            both = f"{counted(pair.n_queries, *self.judge.unit)} that it shares with {self._rival_name()}"
            return f"is not ahead over the {both}: "
        wins = (pair.wins, pair.losses) if self.leader == pair.system else (pair.losses, pair.wins)
        return (
            f"is not shown better than {self._rival_name()}: the test, {design.test}, is not of the means and finds a"
            f" difference the other way ({wins[0]} wins, {wins[1]} losses): "
        )

    def _noun(self, n: int) -> str:
        nouns = self.judge.unit if self.pair.n_clusters is None else ("cluster", "clusters")
        return nouns[n != 1]

    def _n_units_only(self) -> str:
        return f"{self._n_units:,} {self._noun(self._n_units)}"

    def _numbers(self) -> str:
        """Give the difference, its interval, p and n, as seen from the leader."""
        pair, sign = self.pair, self._sign
        low, high = sorted((sign * pair.low, sign * pair.high))
        level = f"{100 * self.judge.design.confidence_level:g}% CI"
        interval = f", {level} [{number(low)}, {number(high)}]" if pair.is_known else ""
        kind = " in logarithms" if self.measure.geometric else ""
        p = "" if math.isnan(pair.p_adjusted) else f", {self._p_name()} {probability(pair.p_adjusted)}"
        return f"difference {signed(sign * pair.difference)}{kind}{interval}{p}, {self._units()}"

    def _p_name(self) -> str:
        design = self.judge.design
        is_adjusted = len(self.own) > 1 and design.correction != "none" and design.test != TUKEY
        return "adjusted p" if is_adjusted else "p"

    def _rest(self) -> str:
        """Say whom else of many the leader is better than; with a baseline nobody else was compared with it."""
        won, compared = self._won()
        if len(compared) < 2:
            return ""
        if len(won) == len(compared):
            return f"; {self.leader} is better than each of the {len(compared)} others by more than chance"
        if not won:
            return f"; {self.leader} is shown better than none of the {len(compared)} others"
        return f"; {self.leader} is better than {len(won)} of the {len(compared)} others by more than chance"

    def _agreement(self, agree: Sequence[str], others: Mapping[str, str]) -> str:
        """Say who leads by the other measures."""
        found = [f"{self.leader} leads by {three(agree)} too"] if agree else []
        rivals: dict[str, list[str]] = {}
        for name, leader in others.items():
            rivals.setdefault(leader, []).append(name)
        for leader, names in rivals.items():
            found.append(f"{leader or ('nobody' if found else 'Nobody')} leads by {three(names)}")
        return f"{'; '.join(found)}." if found else ""

    def _judgments(self, lacking: Lacking) -> str:
        """Say what is not judged, and what that could make of the lead."""
        pair, by = self.pair, f"the lead of {self.leader} over {self.rival} by {self.measure.label}"
        own, other = lacking.system, lacking.baseline
        if self.leader == pair.baseline:
            own, other = other, own
        of_rival = f"{percentage(other)} of the top {lacking.depth} documents of {self.rival} are unjudged"
        shares = f"{of_rival}, and {percentage(own)} of those of {self.leader}"
        if math.isnan(lacking.low):
            return f"{by[0].upper()}{by[1:]} may be due to the judgments: {shares}."
        low, high = sorted(self._sign * end for end in (lacking.low, lacking.high))
        bounds = f"{signed(low)} to {signed(high)} (outer bounds)"
        if lacking.is_safe:
            return f"{shares}; no labels of unjudged documents reverse {by}: the difference is {bounds}."
        return (
            f"{by[0].upper()}{by[1:]} may be due to the judgments: {shares}; with labels for these and other unjudged"
            f" documents the difference is {bounds}."
        )

    def _ties(self) -> str:
        """Say whether tie order alone can reverse the order of the two."""
        pair, exact, of = self.pair, self.pair.expected_difference, self.measure.label
        if math.isnan(pair.flip_probability):
            return ""
        is_ahead = (exact > 0) == self.measure.higher_is_better
        ahead, behind = (pair.system, pair.baseline) if is_ahead else (pair.baseline, pair.system)
        if pair.can_flip and pair.flip_method == "normal" and pair.flip_standard_error > VAGUE:
            chance = "with a probability that is not known without the runs"
        else:
            chance = f"with a probability of {share(pair)}"
        if exact * pair.difference < 0 and abs(exact) > NEGLIGIBLE_DIFFERENCE:  # by the tie policy alone
            size = number(abs(self._scale * exact))
            return (
                f"Who is ahead by {of} depends on how ties are broken ({self.judge.ties}): over all orders of the ties"
                f" {ahead} is ahead by {size}, and ties broken at random put {behind} ahead {chance}."
            )
        reversal = f"{behind} ahead of {ahead} by {of}"
        if not pair.can_flip:
            return f"No order of tied scores puts {reversal}."
        by_id = f"; ties broken {BY_DOC_ID}, put {behind} ahead" if pair.doc_id_reverses else ""
        if max(pair.flip_probability, pair.flip_standard_error) < UNLIKELY and not by_id:
            return f"Some order of the ties puts {reversal}, but ties broken at random hardly ever do (<1%)."
        return f"Ties broken at random put {reversal} {chance}{by_id}."

    def _of_baseline(self) -> str:
        """Count the systems that are better and worse than the baseline, of several."""
        baseline, design = self.judge.design.baseline, self.judge.design
        if baseline is None or len(self.own) < 2:
            return ""
        sure = [one for one in self.own if not doubt(one, design)]
        better = sum(favoured(one, self.measure, design) == one.system for one in sure)
        worse = sum(favoured(one, self.measure, design) == baseline for one in sure)
        found = f"{better or 'none'} {'is' if better == 1 else 'are'} better than {baseline} by {self.measure.label}"
        others = f"of the {len(self.own):,} other systems {found}"
        return f"By more than chance, {others}, and {worse or 'none'} {'is' if worse == 1 else 'are'} worse."

    def _power(self, outcome: str) -> str:
        """Say what so many queries can find, where nothing was shown."""
        is_known = outcome == "not shown" and not self.pair.doubtful  # of skewed differences t says too little
        size, n_tests = self.judge.detectable(self.pair) if is_known else (None, 1)
        if size is None or math.isnan(size):
            return ""
        found, n_pairs = number(self._scale * abs(size)), len(self.own)
        between = f"between {self.pair.system} and {self.pair.baseline}"
        level = f"{1 - self.judge.design.confidence_level:.3g}" + (f"/{n_tests}" if n_tests > 1 else "")
        uncorrected = f", not corrected for {n_pairs} pairs" if n_tests == 1 < n_pairs else ""
        return (
            f"By {self.measure.label}, these {self._units()} find a true difference of {found} {between} with a power"
            f" of 80%, a smaller one less often (paired t test at the level {level}{uncorrected})."
        )

    def of_margin(self) -> str:
        """Say what a margin shows: that is another statement than that no difference is significant."""
        if not self.judge.within:
            return ""
        rows = [(one, self.judge.within[one]) for one in self.own if one in self.judge.within]
        if len(rows) > 1:
            return self._margin_of_many(rows)
        pair, found = rows[0]
        within, names = f"the margin of {found.margin:g}", f"{pair.system} and {pair.baseline}"
        by = f"By {self.measure.label},"
        if found.equivalent:
            return f"{by} {names} are equivalent within {within} (p {probability(found.p_equivalent)})."
        no_worse, p = f"{pair.system} is no worse than {pair.baseline} by {within}", probability(found.p_no_worse)
        if found.no_worse:
            return f"{by} {no_worse} (p {p})."
        few = f": {self._n_units_only()} cannot show it" if self._n_units < FEWEST else f" (p {p})"
        return f"{by} it is not shown that {no_worse}{few}."

    def _margin_of_many(self, rows: Sequence[tuple[Pair, Within]]) -> str:
        within, baseline = f"the margin of {rows[0][1].margin:g}", self.judge.design.baseline
        by = f"By {self.measure.label},"
        if baseline is None:
            n = sum(found.equivalent for _, found in rows)
            return f"{by} {n or 'none'} of {len(rows)} pairs {'is' if n == 1 else 'are'} equivalent within {within}."
        shown = [pair.system for pair, found in rows if found.no_worse]
        if not shown:
            return f"{by} none of the {len(rows)} other systems is shown to be no worse than {baseline} by {within}."
        verb = "is" if len(shown) == 1 else "are"
        named = f"{three(shown)} ({len(shown)} of the {len(rows)} other systems)"
        return f"{by} {named} {verb} no worse than {baseline} by {within}."


def is_ahead(pair: Pair, measure: Measure, name: str) -> bool:
    """Return whether the mean difference of a pair is in favour of one of the two."""
    better = pair.difference if measure.higher_is_better else -pair.difference
    return (better if name == pair.system else -better) > NEGLIGIBLE_DIFFERENCE


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
    n_units = pair.n_queries if pair.n_clusters is None else pair.n_clusters
    if n_units < ENOUGH.get(design.test, FEWEST):
        return "few"
    return "in doubt" if pair.doubtful and pair.p_adjusted > NEAR * (1 - design.confidence_level) else ""


def judge_strata(verdicts: Mapping[str, Verdict], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences of a comparison by strata: who leads in which, and where by more than chance.

    Parameters
    ----------
    verdicts : mapping of str to Verdict
        By the name of the stratum, in order.
    columns : sequence of str
        What the strata are of.
    """
    first, *_ = verdicts.values()
    by: dict[str, list[str]] = {}
    for stratum, one in verdicts.items():
        by.setdefault(one.leader or "", []).append(stratum)
    n_all = len(verdicts)
    said = [
        f"{name or 'nobody'} leads in {'all ' if len(own) == n_all > 1 else ''}{len(own)} ({three(own)})"
        for name, own in sorted(by.items(), key=lambda item: (not item[0], -len(item[1])))
    ]
    total = counted(n_all, "stratum", "strata")
    sentences = [f"By {first.measure}, of {total} of {' and '.join(columns)}, {', '.join(said)}."]
    sentences += [_chance_in(first.measure, verdicts), _judgments_in(first.measure, verdicts), _margin_in(verdicts)]
    flips = [
        f"{stratum} ({one.system} / {one.baseline}: {percentage(one.flip_probability)})"
        for stratum, one in verdicts.items()
        if one.can_flip and one.flip_probability >= LIKELY
    ]
    if flips:
        sentences.append(
            f"Ties broken at random reverse the order of the exact {first.measure} of leader and rival with a"
            f" probability of {LIKELY:.0%} or more in {three(flips, '; ')}."
        )
    return tuple(filter(None, sentences))


def _chance_in(measure: str, verdicts: Mapping[str, Verdict]) -> str:
    """Say in which strata the leader is shown to be better."""
    shown = [
        f"{one.leader} is better than {one.runner_up} in {stratum} ({signed(one.difference)},"
        f" p {probability(one.p_adjusted)}, n = {one.n_queries:,})"
        for stratum, one in verdicts.items()
        if one.is_better
    ]
    if not shown:
        return f"No lead by {measure} is shown to be more than chance."
    rest = len(verdicts) - len(shown)
    others = f"; no lead is shown to be more than chance in {rest} of {len(verdicts)}" if rest else ""
    return f"By {measure} and by more than chance, {three(shown, '; ')}{others}."


def _judgments_in(measure: str, verdicts: Mapping[str, Verdict]) -> str:
    """Say in which strata labels of unjudged documents may reverse the lead."""
    found = [
        f"{stratum} ({percentage(one.lacking.baseline if one.leader == one.system else one.lacking.system)} of the top"
        f" {one.lacking.depth} of {one.runner_up} unjudged)"
        for stratum, one in verdicts.items()
        if one.lacking and not one.lacking.is_safe
    ]
    return f"The lead by {measure} may be due to the judgments in {three(found, '; ')}." if found else ""


def _margin_in(verdicts: Mapping[str, Verdict]) -> str:
    """Say in which strata one of two systems is no worse than the other."""
    held = [one for one in verdicts.values() if one.margin is not None and one.n_systems == 2]
    if not held:
        return ""
    first, shown = held[0], [stratum for stratum, one in verdicts.items() if one.no_worse]
    where = f"in {len(shown)} of {len(verdicts)} ({three(shown)})" if shown else f"in none of {len(verdicts)}"
    no_worse = f"{first.system} is shown to be no worse than {first.baseline} by the margin of {first.margin:g}"
    return f"By {first.measure}, {no_worse} {where}."


def number(value: float) -> str:
    """Return a number with four decimals, as tables have it."""
    if math.isnan(value):
        return "-"
    if float(value).is_integer() and abs(value) >= 10:
        return f"{value:,.0f}"
    return rounded(value, DIGITS)


def signed(value: float) -> str:
    """Return a number with its sign."""
    shown = number(value)
    return shown if shown.startswith("-") or not value else f"+{shown}"


def probability(p: float) -> str:
    """Return a p value behind its sign of equality: ``= 0.0312``, or a bound."""
    return "unknown" if math.isnan(p) else f"= {p:.{DIGITS}f}" if p >= 10**-DIGITS else f"< {10**-DIGITS:.{DIGITS}f}"


def percentage(value: float) -> str:
    """Return a share as a percentage that is 0% or 100% only if it is exactly that."""
    return "<1%" if 0 < value < 0.01 else ">99%" if 0.99 < value < 1 else f"{100 * value:.0f}%"


def share(pair: Pair) -> str:
    """Return the probability of a reversal, with its error where that shows."""
    error = pair.flip_standard_error
    shown = f" ± {100 * error:.{0 if error >= 0.1 else 1}f}%" if error >= 0.0005 else ""
    return percentage(pair.flip_probability) + shown
