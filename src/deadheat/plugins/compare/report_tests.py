"""How the differences of a comparison were tested, and what casts doubt on it, as facts of a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray
from deadheat.core.design import MAX_T_CORRECTIONS, RANDOMIZATION, RANK_TESTS, RESAMPLING_TESTS, TUKEY, Design
from deadheat.core.evaluation.intervals import FEW, FEWEST
from deadheat.core.report.cells import DOUBT, MARK
from deadheat.core.report.model import Fact, note_fact, prose_fact
from deadheat.core.structures import group_values
from deadheat.core.wording import UNIT, format_count, format_in_brackets, format_list, join_sentences
from deadheat.plugins.compare.deciding import ENOUGH
from deadheat.plugins.compare.least_p import (
    are_uncounted_bounds,
    beyond_resamples,
    least_adjusted,
    least_p,
    least_ps,
    n_differing,
    n_resamples_of,
    units_of,
)
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.pair_names import name_first, name_in_brief, name_pair
from deadheat.plugins.compare.verdict_facts import describe_margin_doubt, doubt_of_margin

BOUNDED = "at most Hoeffding's bound"
SKEWED = "s"  # behind the p value of differences too skewed for so few queries
TESTS = {
    "randomization": "paired randomisation test (sign flips)",
    "bootstrap-t": "paired bootstrap-t test",
    "bootstrap": "paired bootstrap test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "tukey": "Tukey's HSD by randomisation",
}
CORRECTIONS = {
    "none": "not corrected",
    "max-t": "corrected by max-t",
    "max-t-step-down": "corrected by max-t (step-down)",
    "bonferroni": "corrected by Bonferroni",
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg (false discovery rate)",
}


@dataclass(frozen=True, eq=False)
class TestedPairs:
    """Differences that were tested, and what a report calls them.

    Attributes
    ----------
    design : Design
    pairs : Pairs
    places : sequence of str, of length n_pairs
        The stratum of each pair, empty for the whole.
    units : str
        What is resampled, in the plural.
    total : str
        How many differences there are, in words.
    """

    design: Design
    pairs: Pairs
    places: Sequence[str]
    units: str
    total: str

    @property
    def alpha(self) -> float:
        """The level below which p is significant."""
        return 1 - self.design.confidence_level

    def name_first(self, which: BoolArray, more: Callable[[Pair], str] = lambda _: "") -> list[str]:
        """Return the names of the first pairs of which something holds, each with more about it."""
        _, names = name_first(self.places, self.pairs, which, more)
        return names

    def name_in_brief(self, which: BoolArray, verb: str = "lists") -> str:
        """Return the names of the pairs of which something holds, as :func:`name_in_brief` does."""
        return name_in_brief(self.places, self.pairs, which, verb)


def tell_tests(
    design: Design,
    places: Sequence[str],
    pairs: Pairs,
    *,
    has_clusters: bool = False,
    has_strata: bool = False,
    unit: tuple[str, str] = UNIT,
    among: str = "",
    apart: str = "",
) -> list[Fact]:
    """Say how differences were tested, whether skewness or few queries cast doubt on it, and how many are significant.

    Parameters
    ----------
    design : Design
    places : sequence of str, of length n_pairs
        The stratum of each pair, empty for the whole.
    pairs : Pairs
    has_clusters, has_strata : bool, default False
    unit : tuple of str
        What a query is called, in the singular and the plural.
    among : str, default ""
        What the differences are between, where the report has others too.
    apart : str, default ""
        What has corrections of its own, such as "set and language".
    """
    between = f"between {among}" if among else ""
    tested = TestedPairs(
        design=design,
        pairs=pairs,
        places=places,
        units="clusters" if has_clusters else unit[1],
        total=join_sentences(format_count(len(pairs), "difference"), between),
    )
    test = _describe_test(design, pairs, has_clusters=has_clusters, has_strata=has_strata)
    if between:
        test = f"{between}: {test}"
    if apart:
        test += f", in each {apart} by itself"
    n_resamples = None
    if design.test in RESAMPLING_TESTS:
        n_resamples = _count_resamples(design, pairs)
    n_significant = pairs.column("significant").sum()
    facts = [Fact("baselines", design.against)]
    for name in ("baseline", "test", "correction", "alternative"):
        facts.append(Fact(name, getattr(design, name)))
    facts += [
        Fact("test_resamples", n_resamples),
        prose_fact("test", test),
        _tell_skewed(tested),
        _tell_few_differing(tested),
        _tell_too_many_tests(tested),
        _tell_undecided(tested),
        _tell_few_units(tested),
        prose_fact(MARK, f"p below {tested.alpha:.3g}: {n_significant:,} of {tested.total}"),
        _tell_few_queries(tested),
    ]
    return facts


def _tell_skewed(tested: TestedPairs) -> Fact:
    """Warn of differences that are too skewed for so few queries."""
    is_skewed = tested.pairs.column("doubtful").astype(np.bool_)
    if not is_skewed.any():
        return note_fact("skewed", "")
    names = tested.name_first(is_skewed, lambda pair: f": {pair.skewness:+.1f}")
    too_skewed = f"{is_skewed.sum():,} of {tested.total} too skewed for so few {tested.units}"
    undecided = f"take p near {tested.alpha:.3g} as undecided"
    text = f"{too_skewed}, marked {SKEWED} behind p: p may be too small{format_in_brackets(names)}; {undecided}"
    if tested.design.test != "bootstrap-t":
        text += ", or use the test bootstrap-t"
    brief = f"{too_skewed}, {undecided}{tested.name_in_brief(is_skewed, 'marks')}"
    return note_fact("skewed", text, brief=brief)


def _tell_few_differing(tested: TestedPairs) -> Fact:
    """Warn of differences that cannot be significant, as too few queries differ."""
    pairs = tested.pairs
    has_differing = pairs.column("wins") + pairs.column("losses") > 0
    is_hopeless = has_differing & (least_ps(pairs, tested.design) >= tested.alpha)
    if not is_hopeless.any():
        return note_fact("few differ", "")
    names = tested.name_first(is_hopeless, lambda pair: f": {n_differing(pair)}, {least_p(pair, tested.design):.4f}")
    cannot_fall = f"p of {is_hopeless.sum():,} of {tested.total} cannot fall below {tested.alpha:.3g}"
    few_differ = f"too few {tested.units} differ"
    text = f"{cannot_fall}: {few_differ}{format_in_brackets(names, head='how many, least p: ')}"
    return note_fact("few differ", text, brief=f"{cannot_fall}, {few_differ}{tested.name_in_brief(is_hopeless)}")


def _tell_too_many_tests(tested: TestedPairs) -> Fact:
    """Warn where the correction for so many tests raises each p value of resamples above the level.

    In JSON it is the least p value that resamples can give.
    """
    pairs = tested.pairs
    n_tests, least = least_adjusted(pairs, tested.design)
    is_resampled = (pairs.column("n_resamples") > 0) & (pairs.column("method") != "ppi")
    text = ""
    if least >= tested.alpha and is_resampled.any():
        text = (
            f"after the correction for {n_tests:,} differences, p of {n_resamples_of(pairs):,} resamples is at least"
            f" {least:.2g}: {beyond_resamples(n_tests, tested.design)}"
        )
    return Fact("least_p_adjusted", least, "too many", text, is_note=True)


def _tell_undecided(tested: TestedPairs) -> Fact:
    """Warn of p values so near the level that other resamples may decide otherwise."""
    is_open = tested.pairs.column("undecided").astype(np.bool_)
    if not is_open.any():
        return note_fact("undecided", "")
    undecided = f"{is_open.sum():,} of {tested.total} undecided"
    text = (
        f"{undecided}, marked {DOUBT} behind p: other resamples may take it to the other side of"
        f" {tested.alpha:.3g}{format_in_brackets(tested.name_first(is_open))}"
    )
    brief = (
        f"{undecided}, other resamples may take p to the other side of {tested.alpha:.3g}"
        f"{tested.name_in_brief(is_open, 'marks')}"
    )
    return note_fact("undecided", text, brief=brief)


def _tell_few_units(tested: TestedPairs) -> Fact:
    """Warn of significant differences of so few queries that the test says little."""
    pairs, test = tested.pairs, tested.design.test
    enough = ENOUGH.get(test, FEWEST)
    is_few = pairs.column("significant").astype(np.bool_) & (units_of(pairs) < enough)
    n_few = int(is_few.sum())
    if not n_few:
        return note_fact("few", "")
    why = "are too few for this test; the test t is nearer to its level" if test in ENOUGH else "prove little"
    significant = f"{n_few:,} of {tested.total} significant with fewer than {enough} {tested.units}"
    text = f"{significant}, which {why}: {format_list(tested.name_first(is_few), n=n_few)}"
    return note_fact("few", text, brief=f"{significant}{tested.name_in_brief(is_few)}")


def _tell_few_queries(tested: TestedPairs) -> Fact:
    """Say that a p near the level decides nothing where there are few queries: these do not show how skewed others are.

    In JSON it is the number of such differences.
    """
    pairs = tested.pairs
    is_tested = ~np.isnan(pairs.column("p_value").astype(np.float64))
    is_few = is_tested & (units_of(pairs) < FEW)
    n_few = 0 if tested.design.test in RANK_TESTS else int(is_few.sum())
    text = ""
    if n_few:
        text = f"with so few {tested.units} a p near {tested.alpha:.3g} decides nothing"
    if 0 < n_few < len(pairs):
        text += f": {n_few:,} of {tested.total}"
    return Fact("few_queries", n_few, f"few {tested.units}", text, is_note=True, brief=text)


def _describe_test(design: Design, pairs: Pairs, *, has_clusters: bool, has_strata: bool) -> str:
    """Return the test, how it found p values, and which differences these account for."""
    test = TESTS[design.test]
    if has_clusters:
        test += ", by cluster"
    how = _describe_p_values(design, pairs)
    return f"{test}, {design.alternative}{how}; {corrected_by(design, has_strata=has_strata)}"


def _describe_p_values(design: Design, pairs: Pairs) -> str:
    """Return how a test found p values, behind a comma; empty where that goes without saying."""
    n_pairs = len(pairs)
    n_exact = int(pairs.column("exact_p_value").sum())
    if design.test == RANDOMIZATION and design.correction in MAX_T_CORRECTIONS:
        is_counted = pairs.column("n_resamples") > 0  # after the correction
        n_exact = int((~is_counted & ~are_uncounted_bounds(pairs)).sum())
    is_normal = design.test == "wilcoxon"
    is_resampled = design.test in RESAMPLING_TESTS
    if not (is_normal or is_resampled):
        return ""
    if 0 < n_exact == n_pairs:
        return ", exact"
    if is_normal:
        return f", by the normal distribution for {n_pairs - n_exact} of {format_count(n_pairs, 'difference')}"
    n_bounds = int(are_uncounted_bounds(pairs).sum())
    if 0 < n_bounds == n_pairs:
        return f", {BOUNDED}: no flips are needed"
    how = f", {_count_resamples(design, pairs):,} resamples"
    if n_exact > 0:
        how += ", exact where few queries differ"
    if n_bounds > 0:
        how += f", {BOUNDED} for {n_bounds} of {format_count(n_pairs, 'difference')}"
    return how


def _count_resamples(design: Design, pairs: Pairs) -> int:
    """Return in how many resamples a p value was counted at most; what was asked for where all p values are exact."""
    if are_uncounted_bounds(pairs).all():
        return 0
    return max(n_resamples_of(pairs), design.n_resamples)


def corrected_by(design: Design, *, has_strata: bool) -> str:
    """Return which other differences p values account for."""
    if design.test == TUKEY:
        within = ", within each stratum only" if has_strata else ""
        return f"which accounts for all pairs{within}"
    text = CORRECTIONS[design.correction]
    if design.correction == "none":
        return text
    over = ", over all strata" if has_strata else ""
    return f"{text} within a measure{over}"


def doubt_margin(placed: Sequence[tuple[str, Pair]]) -> Iterator[Fact]:
    """Say of which pairs, given with their strata, the t tests of a margin prove nothing, or little."""
    named_by_doubt = group_values((doubt_of_margin(pair), (name_pair(place, pair), pair)) for place, pair in placed)
    for doubt, named in named_by_doubt.items():
        if not doubt:
            continue
        names = [name for name, _ in named]
        _, first_pair = named[0]
        n_pairs = format_count(len(placed), "pair")
        text = f"{describe_margin_doubt(doubt, first_pair)}: {len(names)} of {n_pairs}, {format_list(names)}"
        yield note_fact("margin", text)
