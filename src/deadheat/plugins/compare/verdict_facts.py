"""What a verdict says: a headline of at most fifteen words, and facts, each a label and a text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.design import RANK_TESTS, TUKEY, Design
from deadheat.core.evaluation.intervals import FEW, FEWEST
from deadheat.core.measures import Measure, unit_of
from deadheat.core.stats import NEGLIGIBLE_DIFFERENCE, is_doubtful, significant
from deadheat.core.structures import group_values
from deadheat.core.wording import (
    BY_DOC_ID,
    UNIT,
    format_count,
    format_in_brackets,
    format_level,
    format_list,
    format_names,
    format_p_value,
    format_percentage,
    format_rounded,
    is_share_known,
)
from deadheat.plugins.compare.least_p import beyond_resamples, least_adjusted, n_differing, n_resamples_of, n_units
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.pairs import LIKELY
from deadheat.plugins.compare.verdict import NEAR, Verdict, Within

Facts = dict[str, str]
"""Texts by their labels, in the order in which they are read."""

DIGITS = 4
UNLIKELY = 0.005  # probability of a reversal below which it is not given
TEST_NAMES = {
    "randomization": "sign flips",
    "bootstrap-t": "bootstrap-t",
    "bootstrap": "bootstrap",
    "t": "t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    TUKEY: "Tukey's HSD by randomisation",
}
CORRECTION_NAMES = {
    "max-t": "max-t",
    "max-t-step-down": "max-t (step-down)",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini and Hochberg",
}
INTERVAL_NAMES = {
    "t": "Student's t",
    "skewed-t": "Student's t, corrected for skewness",
    "bootstrap-t": "bootstrap-t",
    "bca": "BCa bootstrap",
    "percentile": "percentile bootstrap",
    "ppi": "Student's t",
}
MISSING_EFFECTS = {"empty": "counted as empty rankings", "skip": "left out"}
HEADLINES = {
    "no quality": "Nobody leads: {measures} cannot say how good a system is.",
    "none": "Nothing to compare: no {query} has {measure} of both systems.",
    "shared": "No clear winner: {best} share the best {measure}.",
    "equal": "No winner: {baseline} and {system} are equal by {measure} on every {query}.",
    "same mean": "No winner: {baseline} and {system} have the same {mean} {measure}.",
    "same by values": "No clear winner: {baseline} and {system} have the same {mean} {measure} by {values_are_by}.",
    "one query": "{leader} leads {runner_up} by {measure}, but one {query} proves nothing.",
    "better": "{leader} beats {runner_up}{size}.",
    "better if": "{leader} beats {runner_up}{size}, but {doubts} could reverse it.",
    "other chunks": "{leader} leads {runner_up} by {measure}, but the judgments are of other chunks.",
    "few": "{leader} leads {runner_up} by {measure}, but {n_units} prove little.",
    "few differ": "{leader} leads {runner_up} by {measure}, but too few {nouns} differ to prove it.",
    "in doubt": "No clear winner: {leader} leads {runner_up} by {measure}, but chance may explain it.",
    "undecided": "Undecided: {leader} leads {runner_up} by {measure}, but p is too near the level.",
    "behind": "No clear winner: {leader} does not lead {runner_up} over the {nouns} of both.",
    "not estimated": "No clear winner: {leader} leads {runner_up} by {measure}, but not {estimated_with}.",
    "contradicted": "No clear winner: by {measure}, the means and the {test} test disagree.",
    "not shown": "No clear winner: {leader} and {runner_up} cannot be told apart by {measure}.",
    "untested": "No clear winner: {leader} leads {runner_up} by {measure}, but they could not be tested.",
    "one-sided": "No clear winner: {leader} is not shown better than {runner_up} by {measure}.",
    "equivalent": "No clear winner: {system} and {baseline} are equivalent within {margin:g} {measure}{unit}{alone}.",
    "no worse": "No clear winner, but {system} is no worse than {baseline} within {margin:g} {measure}{unit}{alone}.",
    "equivalent in doubt": (
        "No clear winner: {system} and {baseline} seem equivalent within {margin:g} {measure}{unit}, but {why}."
    ),
    "no worse in doubt": "{system} seems no worse than {baseline} within {margin:g} {measure}{unit}, but {why}.",
    "strata": "By {measure}, {leader} leads in {n_led} of {strata}, by more than chance in {n_shown}.",
    "open strata": "No lead by {measure} within any of {strata} is more than chance.",
}
"""Headlines by the outcome of a verdict, or by the kind of outcome where there are several."""

HEADLINES_OF_LATER = {
    "one query": "{runner_up} is behind {leader} by {measure}, but one {query} proves nothing.",
    "better": "{runner_up} is worse than {leader}{size}.",
    "better if": "{runner_up} is worse than {leader}{size}, but {doubts} could reverse it.",
    "other chunks": "{runner_up} is behind {leader} by {measure}, but the judgments are of other chunks.",
    "few": "{runner_up} is behind {leader} by {measure}, but {n_units} prove little.",
    "few differ": "{runner_up} is behind {leader} by {measure}, but too few {nouns} differ to prove it.",
    "in doubt": "No clear winner: {runner_up} is behind {leader} by {measure}, but chance may explain it.",
    "undecided": "Undecided: {runner_up} is behind {leader} by {measure}, but p is too near the level.",
    "not estimated": "No clear winner: {runner_up} is behind {leader} by {measure}, but not {estimated_with}.",
    "untested": "No clear winner: {runner_up} is behind {leader} by {measure}, but they could not be tested.",
}
"""The same where the later of two saves is the one that does not lead: they are about it."""


MARGIN_DOUBTS = {"constant": "differences never vary", "skewed": "differences are skewed"}
"""What a headline says of the doubts of a margin; with few queries a margin shows nothing."""


@dataclass(frozen=True, kw_only=True)
class Contest:
    """The two systems that a verdict is about, and the pairs of their measure.

    Attributes
    ----------
    measure : Measure
    leader : str or None
        None where nobody leads.
    rival : str or None
    pair : Pair
        That of the two.
    pairs : Pairs
        All by the measure.
    levels : mapping of str to float
        The mean of each system, of counts the total; of two systems over the queries that both have.
    design : Design
    unit : tuple of str
        What a query is called, in the singular and the plural.
    missing : str
        What is said of queries that a system has no results for; empty if all have results.
    other_chunks : str
        What is said of a system whose chunks are others than those that were judged; empty if none is doubted.
    later : str or None
        Of two saves the later one, from which the text is seen; else it is seen from the leader.
    """

    measure: Measure
    leader: str | None
    rival: str | None
    pair: Pair
    pairs: Pairs
    levels: Mapping[str, float]
    design: Design
    unit: tuple[str, str]
    missing: str = ""
    other_chunks: str = ""
    later: str | None = None

    @property
    def lost_by_later(self) -> bool:
        """Whether the later of two saves does not lead."""
        return self.later is not None and self.later == self.rival

    @property
    def told_sign(self) -> int:
        """What turns a number that is seen from the leader into one of the text."""
        return -1 if self.lost_by_later else 1

    @property
    def scale(self) -> int:
        """How many means a total is; 1 where means are shown."""
        return self.pair.n_queries if self.measure.total else 1

    @property
    def sign(self) -> int:
        """What turns a difference of the pair into one that is seen from the leader, in totals for counts."""
        return -self.scale if self.leader == self.pair.baseline else self.scale

    @property
    def has_rivals_alone(self) -> bool:
        """Whether the leader was compared with the baselines alone, being none of them."""
        return bool(self.design.against) and self.leader not in self.design.against

    @property
    def is_adjusted(self) -> bool:
        """Whether p accounts for other pairs by a correction."""
        return len(self.pairs) > 1 and self.design.correction != "none" and self.design.test != TUKEY

    @property
    def noun(self) -> tuple[str, str]:
        """What is counted by the test: a query or a cluster, in the singular and the plural."""
        return self.unit if self.pair.n_clusters is None else ("cluster", "clusters")

    @property
    def queries(self) -> str:
        """The number of queries, of clusters, and what the queries are worth if they have weights."""
        text = format_count(self.pair.n_queries, *self.unit)
        if self.pair.n_clusters is not None:
            text += f" in {format_count(self.pair.n_clusters, 'cluster')}"
        if self.pair.n_effective is not None:
            text += f" worth {self.pair.n_effective:.1f} of equal weight"
        return text

    @property
    def units(self) -> str:
        """The number of queries or clusters that the test has."""
        text = format_count(n_units(self.pair), *self.noun)
        return text if self.pair.n_effective is None else f"{text} by weight"


def describe_missing(
    missing: Mapping[str, Sequence[str]], n_queries: int, effect: str, unit: tuple[str, str] = UNIT
) -> str:
    """Say how many queries have no results in a run, and what becomes of them; "" where all have results.

    Parameters
    ----------
    missing : mapping of str to sequence of str
        The queries that each system has no results for.
    n_queries : int
        Of the comparison.
    effect : {"empty", "skip"}
        What becomes of them.
    unit : tuple of str
        What a query is called, in the singular and the plural.

    Examples
    --------
    >>> describe_missing({"bm25": ["q1", "q7"], "dense": []}, 25, "empty")
    '2 of 25 queries have no results in bm25 (q1, q7): counted as empty rankings'
    """
    systems = sorted((name for name, queries in missing.items() if queries), key=lambda name: -len(missing[name]))
    if not systems:
        return ""
    counts = [len(missing[name]) for name in systems]
    verb = "has" if counts[0] == 1 else "have"
    text = f"{counts[0]:,} of {format_count(n_queries, *unit)} {verb} no results in {systems[0]}"
    text += format_in_brackets(missing[systems[0]])
    if len(systems) > 1:
        others = [f"{count:,} in {name}" for name, count in zip(systems[1:], counts[1:], strict=True)]
        text += f", {format_list(others)}"
    return f"{text}: {MISSING_EFFECTS[effect]}"


def describe_no_leader(kind: str, measures: Sequence[str], best: Sequence[str], level: str, n_systems: int) -> Facts:
    """Return the facts of a verdict without a pair.

    Parameters
    ----------
    kind : str
        "no quality", "no value" or "shared".
    measures : sequence of str
        Of "no quality" all of them, else the one.
    best : sequence of str
        The systems that share the best mean.
    level : str
        Their mean.
    n_systems : int
    """
    label = format_list(measures)
    if kind == "no quality":
        verb = "says" if len(measures) == 1 else "say"
        return {label: f"{verb} what the data hold, not how good a system is"}
    if kind == "no value":
        return {label: "no value for two systems on any query"}
    return {label: f"{format_names(best)} share the best of {n_systems:,} systems, {level}"}


def describe_pair(kind: str, verdict: Verdict, contest: Contest, ties: str, shares: Mapping[str, float]) -> Facts:
    """Return the facts of a verdict about two systems.

    Parameters
    ----------
    kind : str
        The kind of outcome.
    verdict : Verdict
        With its numbers.
    contest : Contest
    ties : str
        The tie policy.
    shares : mapping of str to float
        The shares of the weight of those queries that decide by theirs.
    """
    facts = _describe_numbers(kind, verdict, contest)
    if contest.leader is None or kind == "none":
        return facts
    too_many = _describe_too_many(contest)
    if too_many:
        facts["resamples"] = too_many
    weights = describe_weights(verdict, contest, shares)
    if weights:
        facts["weights"] = weights
    if contest.other_chunks:
        facts["chunks"] = contest.other_chunks
    if verdict.lacking is not None:
        facts["judgments"] = _describe_judgments(verdict, contest)
    others = _describe_other_measures(verdict, contest)
    if others:
        by_whom = f" ({contest.pair.values_are_by})" if contest.pair.is_estimated else ""
        facts["other measures"] = others + by_whom
    if kind != "not estimated":
        order_of_ties = _describe_ties(contest, ties)
        if order_of_ties:
            facts["ties"] = order_of_ties
    return facts | _describe_others(verdict, contest)


def _describe_numbers(kind: str, verdict: Verdict, contest: Contest) -> Facts:
    """Return the means, the difference and p, and what casts doubt on them."""
    facts = {contest.measure.label: _describe_lead(kind, contest)}
    if kind not in {"none", "equal", "same mean", "one query"}:
        facts |= _describe_difference(verdict, contest)
    if contest.missing:
        facts["missing"] = contest.missing
    doubt = _describe_doubt(kind, verdict, contest)
    if doubt:
        facts["doubt"] = doubt
    return facts


def _describe_lead(kind: str, contest: Contest) -> str:
    """Say who leads whom, by which means."""
    pair = contest.pair
    if kind == "none":
        return f"no {contest.unit[0]} has a value for both {pair.baseline} and {pair.system}"
    if contest.leader is None or contest.rival is None:
        return _describe_equal_means(kind, contest)
    leader, rival = contest.leader, contest.rival
    level = format_number(contest.levels[leader])
    other = format_number(contest.levels[rival])
    by_whom = f" by {pair.values_are_by}" if pair.is_estimated else ""
    direction = "" if contest.measure.higher_is_better else ", less is better"
    if len(contest.levels) == 2:
        levels = f"{leader} {level}, {rival} {other}"
        if contest.later == leader:  # in order of time
            levels = f"{rival} {other}, {leader} {level}"
        if level == other:
            verb = "is behind" if contest.lost_by_later else "leads"
            names = (rival, leader) if contest.lost_by_later else (leader, rival)
            levels = f"{names[0]} {verb} {names[1]}, both {level}"
        return levels + by_whom + direction
    role = "runner-up"
    if contest.has_rivals_alone:
        role = "best baseline"
    if rival == contest.design.baseline:
        role = "baseline"
    place = f"first of {len(contest.levels):,}"
    if leader == contest.design.baseline:
        place = f"the baseline, {place}"
    second = _second(contest)
    if second != rival:
        place += f"; second {second} {format_number(contest.levels[second])}, not compared with it"
    return f"{leader} {level}, {place}; {role} {rival} {other}{by_whom}{direction}"


def _second(contest: Contest) -> str:
    """Return the best system but for the leader, tested against it or not."""
    others = {name: level for name, level in contest.levels.items() if name != contest.leader}
    return max(others, key=lambda name: (not math.isnan(others[name]), contest.measure.sign * others[name]))


def _describe_equal_means(kind: str, contest: Contest) -> str:
    """Say what the mean of both is, and over which queries."""
    pair = contest.pair
    level = format_number(contest.levels[pair.baseline])
    if kind == "same by values":
        return f"both {level} by {pair.values_are_by} over {contest.queries}"
    if kind == "same mean":
        return f"both {level} over {contest.queries}, which differ"
    if pair.n_queries == 1:
        return f"both {level} on the only {contest.unit[0]}"
    return f"both {level} on each of {contest.queries}"


def _describe_difference(verdict: Verdict, contest: Contest) -> Facts:
    """Return the difference, its interval, and p with its test and the queries."""
    pair = contest.pair
    design = contest.design
    minuend, subtrahend = pair.system, pair.baseline
    if contest.sign * contest.told_sign < 0:
        minuend, subtrahend = subtrahend, minuend
    difference = (
        f"{format_signed(contest.told_sign * verdict.difference)}{unit_of(contest.measure)}, {minuend} - {subtrahend}"
    )
    if pair.is_estimated:
        difference += f", {pair.estimated_with}"
    facts = {"difference": difference}
    if pair.is_known:
        label = f"{format_level(design.confidence_level)} {'joint ' * pair.is_simultaneous}CI"
        facts[label] = _describe_interval(verdict, contest)
    if math.isnan(pair.p_adjusted):
        return facts | {contest.unit[1]: contest.queries.removesuffix(f" {contest.unit[1]}")}
    p = format_p_value(pair.p_adjusted, is_bound=pair.p_is_bound).removeprefix("= ")
    parts = [p, describe_test(contest), contest.queries]
    if contest.is_adjusted:
        parts.append(f"corrected by {CORRECTION_NAMES[design.correction]}")
    return facts | {"p": ", ".join(parts)}


def _describe_interval(verdict: Verdict, contest: Contest) -> str:
    """Return the interval of the difference, and why it says something else than p, if it does."""
    pair = contest.pair
    low, high = sorted((contest.told_sign * verdict.low, contest.told_sign * verdict.high))
    text = f"[{format_number(low)}, {format_number(high)}]"
    has_zero = verdict.low <= 0 <= verdict.high
    is_open = math.isnan(pair.p_adjusted) or pair.undecided
    if is_open or pair.is_simultaneous or contest.design.alternative != "two-sided" or has_zero != pair.significant:
        return text
    if not has_zero and contest.is_adjusted:
        return f"{text}, not corrected"
    verb = "has" if has_zero else "excludes"
    return f"{text}, {verb} 0: by {INTERVAL_NAMES[pair.method]}, not by the test of p"


def describe_test(contest: Contest) -> str:
    """Name the test in few words, and its side if it has one."""
    design = contest.design
    name = "t test" if contest.pair.is_estimated else TEST_NAMES[design.test]
    if design.alternative == "two-sided":
        return name
    return f"{name} for {contest.pair.system} {design.alternative} than {contest.pair.baseline}"


def _describe_doubt(kind: str, verdict: Verdict, contest: Contest) -> str:
    """Say why the numbers decide nothing, or less than they seem to."""
    pair = contest.pair
    if kind == "one query":
        return f"one {contest.unit[0]} shows nothing about others"
    if kind == "few":
        return f"{contest.units} prove little"
    if kind == "few differ":
        return _describe_differing(verdict, contest)
    if kind == "undecided":
        level = 1 - contest.design.confidence_level
        return f"p is within the error of {pair.n_resamples:,} resamples of {level:.3g}"
    skewness = f"differences are skewed ({pair.skewness:+.1f}) for so few {contest.noun[1]}"
    if kind == "in doubt":
        return f"{skewness}: p above {NEAR * (1 - contest.design.confidence_level):.3g} decides nothing"
    if kind == "behind":
        return f"not ahead over the {format_count(pair.n_queries, *contest.unit)} of both"
    if kind == "not estimated":
        return f"{pair.estimated_with} {contest.rival} is ahead"
    if kind == "contradicted":
        return f"the {contest.design.test} test is not of means, and finds the opposite: {_wins_and_losses(contest)}"
    if kind == "better" and pair.doubtful:
        return f"{skewness}: p may be too small"
    return ""


def _describe_differing(verdict: Verdict, contest: Contest) -> str:
    """Say that too few queries differ for any p value to be small."""
    pair = contest.pair
    n_differ = n_differing(pair)
    verb = "differs" if n_differ == 1 else "differ"
    text = f"{n_differ:,} of {format_count(n_units(pair), *contest.noun)} {verb}: p cannot fall below"
    text += f" {format_number(verdict.least_p)}"
    if pair.is_known and pair.low * pair.high > 0:
        text += f"; the interval rests on the same {n_differ:,}"
    return text


def _wins_and_losses(contest: Contest) -> str:
    """Return on how many queries the leader is better and worse."""
    wins, losses = contest.pair.wins, contest.pair.losses
    if contest.leader != contest.pair.system:
        wins, losses = losses, wins
    return f"{wins} wins, {losses} losses"


def _describe_too_many(contest: Contest) -> str:
    """Say what can be significant, where the correction raises p of resamples too far."""
    design = contest.design
    n_tests, least = least_adjusted(contest.pairs, design)
    is_limited = not significant([least], 1 - design.confidence_level)[0]
    if contest.pair.n_resamples == 0 or contest.pair.is_estimated or not is_limited:
        return ""
    return (
        f"p of {n_resamples_of(contest.pairs):,}, corrected for {n_tests:,} differences, is at least"
        f" {format_number(least)}: {beyond_resamples(n_tests, design)}"
    )


def describe_weights(verdict: Verdict, contest: Contest, shares: Mapping[str, float]) -> str:
    """Say whether the weights decide who leads, and which queries do by theirs; return "" where they do not."""
    if verdict.unweighted is None:
        return ""
    texts = []
    is_ahead_unweighted = verdict.unweighted * contest.measure.sign > NEGLIGIBLE_DIFFERENCE
    if not is_ahead_unweighted:
        difference = f"{format_signed(verdict.unweighted)}{unit_of(contest.measure)}"
        texts.append(f"without them {contest.leader} is not ahead ({difference})")
    queries = []
    for query_id, share in shares.items():
        queries.append(f"{query_id} ({format_percentage(share)} of the weight)")
    if queries:
        texts.append(f"without {format_list(queries, ' and ')} the lead is gone")
    return "; ".join(texts)


def unjudged_shares(verdict: Verdict) -> tuple[str, str]:
    """Return the shares of unjudged documents of the rival and of the leader."""
    lacking = verdict.lacking
    if lacking is None:
        raise ValueError("no shares of unjudged documents")
    of_baseline = format_percentage(lacking.baseline)
    of_system = format_percentage(lacking.system)
    if verdict.leader == verdict.system:
        return of_baseline, of_system
    return of_system, of_baseline


def _describe_judgments(verdict: Verdict, contest: Contest) -> str:
    """Say what is not judged, and what that could make of the lead."""
    lacking = verdict.lacking
    if lacking is None:
        return ""
    of_rival, of_leader = unjudged_shares(verdict)
    shares = (
        f"{of_rival} of the top {lacking.depth} of {verdict.runner_up} and {of_leader} of {verdict.leader} are unjudged"
    )
    if math.isnan(lacking.low):
        return f"{shares}: the lead may be due to that"
    sign = contest.sign * contest.told_sign
    ends = sorted((sign * lacking.low, sign * lacking.high))
    bounds = f"{format_signed(ends[0])} to {format_signed(ends[1])}{unit_of(contest.measure)}"
    kind = "exact bounds" if lacking.is_attained else "outer bounds"
    if lacking.is_safe:
        return f"{shares}; no labels reverse the lead, the difference is {bounds} ({kind})"
    return f"{shares}; with other labels for all unjudged documents the difference is {bounds} ({kind})"


def _describe_other_measures(verdict: Verdict, contest: Contest) -> str:
    """Say who leads by the other measures."""
    texts = []
    if verdict.agree:
        who = f"{contest.rival} is behind" if contest.lost_by_later else f"{verdict.leader} leads"
        texts.append(f"{who} by {format_list(verdict.agree)} too")
    names_by_leader = group_values((leader, name) for name, leader in verdict.others.items())
    for leader, names in names_by_leader.items():
        texts.append(f"{leader or 'nobody'} leads by {format_list(names)}")
    return "; ".join(texts)


def is_by_policy(pair: Pair) -> bool:
    """Whether the tie policy alone puts the leader ahead: over all orders of the ties the other one is."""
    exact = pair.expected_difference
    difference = pair.difference
    if pair.judged is not None:
        difference = pair.judged.difference  # ties are those by human labels
    return exact * difference < 0 and abs(exact) > NEGLIGIBLE_DIFFERENCE


def _describe_ties(contest: Contest, ties: str) -> str:
    """Say whether tie order alone can reverse the order of the two."""
    pair = contest.pair
    if math.isnan(pair.flip_probability):
        return ""
    exact = pair.expected_difference
    ahead, behind = pair.system, pair.baseline
    if (exact > 0) != contest.measure.higher_is_better:
        ahead, behind = behind, ahead
    by_whom = f", by {pair.values_are_by}" if pair.is_estimated else ""
    chance = "some orders, how many is not known,"
    if is_share_known(pair.flip_probability, pair.flip_standard_error):
        chance = f"{format_percentage(pair.flip_probability, pair.flip_standard_error)} of orders"
    if is_by_policy(pair):
        size = f"{format_number(abs(contest.scale * exact))}{unit_of(contest.measure)}"
        return f"{ties} decides: over all orders {ahead} is ahead by {size}, and {chance} put {behind} ahead{by_whom}"
    if not pair.can_flip:
        return f"no order puts {behind} ahead{by_whom}"
    if max(pair.flip_probability, pair.flip_standard_error) < UNLIKELY and not pair.doc_id_reverses:
        return f"some orders, under 1%, put {behind} ahead{by_whom}"
    text = f"{chance} put {behind} ahead"
    if pair.doc_id_reverses:
        text += f"; ties broken {BY_DOC_ID}, do too"
    return text + by_whom


def _describe_others(verdict: Verdict, contest: Contest) -> Facts:
    """Say how many other systems the leader beats, and how others stand against the one baseline."""
    facts: Facts = {}
    alternative = contest.design.alternative
    # a one-sided test looks at one side of each pair, which the order of the systems chose
    is_asked = alternative == "two-sided" and verdict.n_compared > 1
    if is_asked and verdict.outcome in {"better", "not shown", "in doubt"}:
        others = "baselines" if contest.has_rivals_alone else "others"
        facts["better than"] = f"{verdict.n_better} of {verdict.n_compared} {others}, by more than chance"
    baseline = contest.design.baseline
    if baseline is not None and len(contest.pairs) > 1:
        sides = []
        if alternative != "less":
            sides.append(f"{verdict.n_above_baseline or 'none'} of {len(contest.pairs)} others significantly better")
        if alternative != "greater":
            of_others = "" if sides else f" of {len(contest.pairs)} others"
            sides.append(f"{verdict.n_below_baseline or 'none'}{of_others} significantly worse")
        facts[f"against {baseline}"] = ", ".join(sides)
    return facts


def describe_power(verdict: Verdict, contest: Contest) -> Facts:
    """Return the difference that so many queries detect; nothing where that is not known."""
    if verdict.detectable is None:
        return {}
    level = f"level {1 - contest.design.confidence_level:.3g}"
    if verdict.n_tests > 1 and contest.pair.is_simultaneous:
        level += f" over {verdict.n_tests} differences"
    elif verdict.n_tests > 1:
        level += f"/{verdict.n_tests}"
    elif len(contest.pairs) > 1:
        level += f", not corrected for {len(contest.pairs)} pairs"
    text = f"{format_number(verdict.detectable)}{unit_of(contest.measure)} and more (80% power, t test, {level})"
    if contest.pair.is_estimated:
        text += f", {contest.pair.estimated_with}"
    return {"detects": text}


def describe_margin(measure: Measure, pairs: Pairs, design: Design, within: Mapping[tuple[str, str], Within]) -> Facts:
    """Return what a margin shows: that is another statement than that no difference is significant.

    Parameters
    ----------
    measure : Measure
    pairs : Pairs
        By this measure.
    design : Design
    within : mapping of (system, baseline) to Within
        Empty without a margin.
    """
    if not within:
        return {}
    tests = [(pair, within[pair.system, pair.baseline]) for pair in pairs]
    first, test = tests[0]
    label = f"margin {test.margin:g}{unit_of(measure)}"
    if len(tests) > 1:
        return {label: _describe_margins(tests, design)}
    doubt = doubt_of_margin(first)
    but = f", but {describe_margin_doubt(doubt, first)}" if doubt else ""
    if test.equivalent:
        verb = "seem" if doubt else "are"
        p_equivalent = f"p {format_p_value(test.p_equivalent)}"
        return {label: f"{first.system} and {first.baseline} {verb} equivalent, {p_equivalent}{but}"}
    p_no_worse = f"p {format_p_value(test.p_no_worse)}"
    if test.no_worse:
        verb = "seems" if doubt else "is"
        return {label: f"{first.system} {verb} no worse than {first.baseline}, {p_no_worse}{but}"}
    why = p_no_worse
    if n_units(first) < FEWEST:
        noun = ("query", "queries") if first.n_clusters is None else ("cluster", "clusters")
        why = f"{format_count(n_units(first), *noun)} cannot show it"
    return {label: f"not shown that {first.system} is no worse than {first.baseline}: {why}"}


def doubt_of_margin(pair: Pair) -> str:
    """Return why the t tests of a margin prove nothing, or little: "few", "constant", "skewed", or empty."""
    if n_units(pair) < FEWEST:
        return "few"
    if not pair.low < pair.high:
        return "constant"
    if is_doubtful(np.array([pair.skewness]), np.array([n_units(pair)]), "t")[0]:
        return "skewed"
    return ""


def describe_margin_doubt(doubt: str, pair: Pair) -> str:
    """Say in full what a doubt of :func:`doubt_of_margin` means."""
    units = "queries" if pair.n_clusters is None else "clusters"
    if doubt == "few":
        return f"fewer than {FEWEST} {units} prove nothing"
    if doubt == "constant":
        return f"one difference in all {units} does not say how others vary"
    return f"too skewed for so few {units}, a t test rules out rare large differences too easily"


def _describe_margins(tests: Sequence[tuple[Pair, Within]], design: Design) -> str:
    """Say of several pairs what a margin shows."""
    n_doubtful = sum(test.no_worse and bool(doubt_of_margin(pair)) for pair, test in tests)
    how = "t tests, not corrected"
    if any(pair.is_simultaneous for pair, _ in tests):
        how += ", unlike the joint intervals"
    if design.baseline is None:
        equivalent = [pair for pair, test in tests if test.equivalent]
        n_doubtful = sum(bool(doubt_of_margin(pair)) for pair in equivalent)
        if n_doubtful:
            how = f"{n_doubtful} of them in doubt; {how}"
        return f"{len(equivalent) or 'none'} of {len(tests)} pairs equivalent ({how})"
    if n_doubtful:
        how = f"{n_doubtful} of them in doubt; {how}"
    shown = [pair.system for pair, test in tests if test.no_worse]
    n_shown = f"{len(shown) or 'none'} of {len(tests)} others no worse than {design.baseline}"
    if not shown:
        return f"{n_shown} ({how})"
    return f"{n_shown}: {format_list(shown)} ({how})"


def headline_of_pair(kind: str, verdict: Verdict, contest: Contest, *, has_doubtful_weights: bool) -> str:
    """Return the headline of a verdict about two systems."""
    pair = contest.pair
    measure = contest.measure
    doubts = []
    if pair.flip_probability >= LIKELY or pair.doc_id_reverses or is_by_policy(pair):
        doubts.append(f"ties ({pair.values_are_by})" if pair.is_estimated else "ties")
    if verdict.lacking is not None and verdict.lacking.is_reversible:
        doubts.append("missing judgments")
    if has_doubtful_weights:
        doubts.append("weights")
    margin_doubt = doubt_of_margin(pair) if verdict.margin is not None else ""
    size = size_of(verdict.difference, measure)
    if pair.doubtful:
        size += " (differences are skewed)"
    elif is_near_with_few(pair, contest.design):
        size += f" (few {contest.noun[1]})"
    if len(doubts) > 1:  # no room for the size
        size = f" by {measure.label}"
    key = _headline_key(kind, verdict, contest, doubts)
    if margin_doubt and key in {"equivalent", "no worse"}:
        key += " in doubt"
    headlines = HEADLINES | HEADLINES_OF_LATER if contest.lost_by_later else HEADLINES
    return headlines[key].format(
        query=contest.unit[0],
        nouns=contest.noun[1],
        n_units=contest.units,
        measure=measure.label,
        mean="total" if measure.total else "mean",
        leader=verdict.leader,
        runner_up=verdict.runner_up,
        system=verdict.system,
        baseline=verdict.baseline,
        margin=0.0 if verdict.margin is None else verdict.margin,
        unit=unit_of(measure),
        alone=" (uncorrected)" if len(contest.pairs) > 1 else "",
        test=contest.design.test,
        size=size,
        why=MARGIN_DOUBTS.get(margin_doubt, ""),
        doubts=format_names(doubts),
        values_are_by=pair.values_are_by,
        estimated_with=pair.estimated_with,
    )


def is_near_with_few(pair: Pair, design: Design) -> bool:
    """Return whether p is so near the level that it decides nothing with so few queries or clusters."""
    is_near = pair.p_adjusted > NEAR * (1 - design.confidence_level)
    return is_near and n_units(pair) < FEW and design.test not in RANK_TESTS


def _headline_key(kind: str, verdict: Verdict, contest: Contest, doubts: Sequence[str]) -> str:
    """Return the key of a headline: the kind of outcome, or what a margin, a side or a doubt makes of it."""
    if kind in {"not shown", "same mean"}:
        if verdict.equivalent:
            return "equivalent"
        if verdict.no_worse:
            return "no worse"
    if kind == "not shown" and math.isnan(verdict.p_adjusted):
        return "untested"
    if kind == "not shown" and contest.design.alternative != "two-sided":
        return "one-sided"
    if kind == "better" and contest.other_chunks:
        return "other chunks"
    if kind == "better" and doubts:
        return "better if"
    return kind


def headline_without_pair(kind: str, measures: Sequence[str], best: Sequence[str], query: str) -> str:
    """Return the headline of a verdict without a pair; the arguments are those of `describe_no_leader`."""
    key = "none" if kind == "no value" else kind
    listed = format_list(measures)
    return HEADLINES[key].format(measures=listed, measure=listed, best=format_names(best), query=query)


def describe_strata(verdicts: Mapping[str, Verdict], what: tuple[str, str]) -> Facts:
    """Return the facts of a comparison by strata: who leads in which, and where by more than chance.

    Parameters
    ----------
    verdicts : mapping of str to Verdict
        By the name of the stratum, in order.
    what : tuple of str
        What a stratum is called, in the singular and the plural.
    """
    measure = next(iter(verdicts.values())).measure
    facts = {
        measure: f"{format_count(len(verdicts), *what)}: {_describe_leaders(verdicts)}",
        "more than chance": _describe_proven_leads(verdicts),
    }
    unjudged = []
    for stratum, verdict in verdicts.items():
        if verdict.lacking is not None and not verdict.lacking.is_safe:
            share_of_rival, _ = unjudged_shares(verdict)
            unjudged.append(f"{stratum} ({share_of_rival} of the top {verdict.lacking.depth} of {verdict.runner_up})")
    if unjudged:
        facts["unjudged"] = f"{format_list(unjudged, '; ')}: the lead may be due to that"
    facts |= _describe_margin_in_strata(verdicts)
    ties = _describe_ties_in_strata(verdicts)
    if ties:
        facts["ties"] = ties
    return facts


def _describe_leaders(verdicts: Mapping[str, Verdict]) -> str:
    """Say who leads in which strata, who leads in most first; those without a leader last."""
    strata_by_leader = group_values((verdict.leader or "", stratum) for stratum, verdict in verdicts.items())
    ordered = sorted(strata_by_leader.items(), key=lambda item: (not item[0], -len(item[1])))
    texts = []
    for leader, strata in ordered:
        where = f"{len(strata)} ({format_list(strata)})"
        if len(strata) == len(verdicts) > 1:
            where = f"all {where}"
        texts.append(f"{leader or 'nobody'} leads in {where}")
    return ", ".join(texts)


def _describe_proven_leads(verdicts: Mapping[str, Verdict]) -> str:
    """Say in which strata the leader is better by more than chance."""
    shown = []
    for stratum, verdict in verdicts.items():
        if not verdict.is_better:
            continue
        difference = f"{format_signed(verdict.difference)}{unit_of(verdict.measure)}"
        numbers = f"{difference}, p {format_p_value(verdict.p_adjusted)}, n = {verdict.n_queries:,}"
        if verdict.low <= 0 <= verdict.high:
            numbers += "; its interval has 0"
        shown.append(f"{verdict.leader} over {verdict.runner_up} in {stratum} ({numbers})")
    n_strata = len(verdicts)
    if not shown:
        return f"no lead in any of {n_strata:,}"
    if len(shown) == n_strata:
        return format_list(shown, "; ")
    return f"{format_list(shown, '; ')}; no lead in {n_strata - len(shown):,} of {n_strata:,}"


def _describe_margin_in_strata(verdicts: Mapping[str, Verdict]) -> Facts:
    """Say in which strata a margin shows that a system is no worse; of two systems alone."""
    for verdict in verdicts.values():
        if verdict.margin is not None and verdict.n_systems == 2:
            held = [stratum for stratum, other in verdicts.items() if other.no_worse]
            where = f"{len(held)} of {len(verdicts)} ({format_list(held)})" if held else f"none of {len(verdicts)}"
            label = f"margin {verdict.margin:g}{unit_of(verdict.measure)}"
            return {label: f"{verdict.system} is shown to be no worse than {verdict.baseline} in {where}"}
    return {}


def _describe_ties_in_strata(verdicts: Mapping[str, Verdict]) -> str:
    """Say in which strata ties may well reverse the order of leader and rival."""
    likely, unknown = [], []
    for stratum, verdict in verdicts.items():
        if not verdict.can_flip:
            continue
        pair = f"{verdict.system} / {verdict.baseline}"
        if not is_share_known(verdict.flip_probability, verdict.flip_standard_error):
            unknown.append(f"{stratum} ({pair})")
        elif verdict.flip_probability >= LIKELY:
            likely.append(f"{stratum} ({pair}: {format_percentage(verdict.flip_probability)})")
    texts = []
    if likely:
        texts.append(f"{LIKELY:.0%} of orders or more reverse leader and rival in {format_list(likely, '; ')}")
    if unknown:
        texts.append(f"how many orders reverse them is not known in {format_list(unknown, '; ')}")
    return "; ".join(texts)


def headline_of_strata(verdicts: Mapping[str, Verdict], what: tuple[str, str]) -> str:
    """Return the headline of a comparison by strata; the arguments are those of `describe_strata`."""
    leaders = [verdict.leader or "" for verdict in verdicts.values()]
    proven = [verdict.leader for verdict in verdicts.values() if verdict.is_better]
    leader = max(filter(None, leaders), key=leaders.count, default="")
    return HEADLINES["strata" if proven else "open strata"].format(
        measure=next(iter(verdicts.values())).measure,
        strata=format_count(len(verdicts), *what),
        leader=leader,
        n_led=leaders.count(leader),
        n_shown=proven.count(leader) or "none",
    )


def format_number(value: float) -> str:
    """Return a number with four decimals, as tables have it."""
    if math.isnan(value):
        return "-"
    is_large_whole = float(value).is_integer() and abs(value) >= 10
    return f"{value:,.0f}" if is_large_whole else format_rounded(value, DIGITS)


def format_signed(value: float) -> str:
    """Return a number with its sign."""
    text = format_number(value)
    return text if text.startswith("-") or not value else f"+{text}"


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
    about = format_rounded(size, max(0, 1 - math.floor(math.log10(size))) if size else 0)
    if "." in about:
        about = about.rstrip("0").rstrip(".")
    points = f" {'point' if about == '1' else 'points'} of" if is_share else " in"
    return f" by about {about}{points} {measure.label}"
