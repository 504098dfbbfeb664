"""What the report of judges shows of systems: how a judge's labels change the comparison that human labels make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deadheat.core.report.cells import Cell, finite_or_none, p_value_cell
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import MEASURE, SYSTEM, Column, Fact, Table, tabulate
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.judges.conclusions import Conclusions

JUDGE = Column("judge", "judge")
UNEVEN = 1.1
"""If one side has this many times as many labels as the other, the report says so."""
HEADLINES = {
    "reversed": "Do not decide by the labels of {judge} alone: they reverse {n_reversed}.",
    "favoured": "{judge} favours {favoured}: do not decide on {favoured} by these labels.",
    "false": "{judge} finds {n_false} that humans do not: look twice.",
    "lost": "{judge} misses {n_lost} that humans find, and finds none.",
    "none": "The human labels show no difference between systems: this says little about {judge}.",
    "confirmed": "Human labels confirm every difference that {judge} finds.",
}
"""For which decisions a judge's labels suffice, by the outcome that `find_outcome` returns; the worst outcome first."""


def find_outcome(conclusion: Conclusions) -> str:
    """Return what a judge's labels do to the comparison of systems: a key of `HEADLINES`."""
    if not conclusion.n_separated:
        return "none"
    if conclusion.reversed:
        return "reversed"
    if conclusion.favoured:
        return "favoured"
    if conclusion.false:
        return "false"
    if len(conclusion.lost) == conclusion.n_separated:
        return "lost"
    return "confirmed"


def find_worst(conclusions: Iterable[Conclusions]) -> Conclusions:
    """Return the first of the conclusions with the worst outcome; there is at least one."""
    outcomes = list(HEADLINES)
    return min(conclusions, key=lambda conclusion: outcomes.index(find_outcome(conclusion)))


def make_headline(conclusion: Conclusions) -> str:
    """Say for which decisions a judge's labels suffice, of these systems and queries."""
    template = HEADLINES[find_outcome(conclusion)]
    return template.format(
        judge=conclusion.judge,
        favoured=format_list(list(conclusion.favoured)),
        n_reversed=format_count(len(conclusion.reversed), "difference"),
        n_false=format_count(len(conclusion.false), "difference"),
        n_lost=format_count(len(conclusion.lost), "difference"),
    )


def _count_confirmed(conclusion: Conclusions) -> int:
    """Count the differences by human labels that the judge's labels show, too."""
    return conclusion.n_separated - len(conclusion.reversed) - len(conclusion.lost)


def summarise_conclusion(conclusion: Conclusions) -> str:
    """Count the differences between systems that human labels find, and what a judge's labels make of them."""
    n_confirmed = _count_confirmed(conclusion)
    n_differences = format_count(conclusion.n_separated, "difference")
    n_queries = format_count(len(conclusion.query_ids), "query", "queries")
    parts = [f"confirms {n_confirmed} of {n_differences} by human labels"]
    if conclusion.reversed:
        parts.append(f"reverses {len(conclusion.reversed)}")
    if conclusion.lost:
        parts.append(f"misses {len(conclusion.lost)}")
    if conclusion.false:
        parts.append(f"invents {len(conclusion.false)}")
    if conclusion.favoured:
        parts.append(f"favours {format_list(list(conclusion.favoured))}")
    return f"{', '.join(parts)} ({n_queries})"


def list_conclusions(conclusions: Sequence[Conclusions]) -> Table:
    """Return a row for each judge and measure: what the judge's labels make of the differences that humans find."""
    labels = (JUDGE, Column("measure", "measure", lambda conclusion: conclusion.measure.label))
    columns = (
        Column("n_queries", "queries", lambda conclusion: len(conclusion.query_ids), spare=1),
        Column("n_separated", "differences"),
        Column("kept", "confirmed", _count_confirmed),
        Column("reversed", "reversed", lambda conclusion: len(conclusion.reversed)),
        Column("lost", "missed", lambda conclusion: len(conclusion.lost)),
        Column("false", "invented", lambda conclusion: len(conclusion.false)),
        Column("favoured", "favours", lambda conclusion: format_list(list(conclusion.favoured)) or "-"),
    )
    title = "Differences between systems by human labels, and by those of each judge"
    return tabulate("conclusions", labels, columns, conclusions, title=title)


def name_conclusion(conclusion: Conclusions, *, is_named: bool) -> str:
    """Return the measure, and the judge where it is to be named."""
    if is_named:
        return f"{conclusion.measure.label}, {conclusion.judge}"
    return conclusion.measure.label


def _key_of_table(prefix: str, conclusion: Conclusions, *, is_named: bool) -> str:
    """Return the key of a table of one judge and measure; it holds their names where there are several such tables."""
    if is_named:
        return f"{prefix} of {conclusion.judge}, {conclusion.measure.label}"
    return prefix


def list_systems(conclusion: Conclusions, ci_heading: str, *, is_named: bool, is_extra: bool) -> Table:
    """Return the means of the systems under both labels.

    Parameters
    ----------
    conclusion : Conclusions
    ci_heading : str
        Of the column of intervals.
    is_named : bool
        Whether the table names its judge and measure in the key, the title and for programs in columns.
    is_extra : bool
        Whether people see it in the full report only.
    """
    rows: list[dict[str, Cell]] = []
    for bias, favour in zip(conclusion.biases, conclusion.favours, strict=True):
        row: dict[str, Cell] = {
            "judge": conclusion.judge,
            "measure": conclusion.measure.label,
            "system": bias.system,
            "human": bias.baseline_mean,
            "by_judge": bias.mean,
            "bias": bias.difference,
            "ci": interval_cell(bias),
            "known": bias.is_known,
            "favour": favour.difference,
            "p": p_value_cell(favour.p_adjusted, is_significant=favour.significant),
        }
        rows.append(row)
    labels: tuple[Column, ...] = (SYSTEM,)
    judge_heading = conclusion.judge
    if is_named:
        labels = (JUDGE, MEASURE, SYSTEM)
        judge_heading = "judge"
    columns = (
        Column("human", "human"),
        Column("by_judge", judge_heading),
        Column("bias", "bias"),
        Column("ci", ci_heading, ends=("bias_low", "bias_high"), spare=1),
        Column("known", "known", is_data=True),
        Column("favour", "against others", spare=2),
        Column("p", "p", spare=2),
    )
    return tabulate(
        _key_of_table("systems", conclusion, is_named=is_named),
        labels,
        columns,
        rows,
        title=f"Systems by {name_conclusion(conclusion, is_named=is_named)}",
        has_blocks=is_named,
        is_extra=is_extra,
    )


def list_differing_pairs(conclusion: Conclusions, *, is_named: bool, is_extra: bool) -> Table:
    """Return the pairs of systems on which the labels differ; the parameters are those of `list_systems`."""
    both_pairs = {}
    for human_pair, judge_pair in zip(conclusion.human, conclusion.by_judge, strict=True):
        both_pairs[human_pair.system, human_pair.baseline] = (human_pair, judge_pair)
    differing_pairs = {"reversed": conclusion.reversed, "lost": conclusion.lost, "false": conclusion.false}
    rows: list[dict[str, Cell]] = []
    for what, pairs in differing_pairs.items():
        for system, baseline in pairs:
            human_pair, judge_pair = both_pairs[system, baseline]
            row: dict[str, Cell] = {
                "what": what,
                "system": system,
                "baseline": baseline,
                "human": human_pair.difference,
                "human_p": p_value_cell(human_pair.p_adjusted),
                "judge": judge_pair.difference,
                "judge_p": p_value_cell(judge_pair.p_adjusted),
            }
            rows.append(row)
    columns = (
        Column("human", "human"),
        Column("human_p", "p", spare=1),
        Column("judge", "by judge"),
        Column("judge_p", "p", spare=1),
    )
    return tabulate(
        _key_of_table("pairs", conclusion, is_named=is_named),
        (Column("what", "judge"), SYSTEM, Column("baseline", "baseline")),
        columns,
        rows,
        title=f"Pairs on which they differ by {name_conclusion(conclusion, is_named=is_named)}",
        is_extra=is_extra,
    )


def describe_uneven_labels(conclusions: Iterable[Conclusions]) -> str:
    """Say which judges labelled more or fewer documents than humans: part of their bias is due to these."""
    counts = {conclusion.judge: conclusion.n_labels for conclusion in conclusions}
    judges = []
    for judge, (n_human, n_judge) in counts.items():
        if max(n_human, n_judge) > UNEVEN * min(n_human, n_judge):
            judges.append(f"{judge} {n_judge:,} ({n_human:,} by humans)")
    if not judges:
        return ""
    return f"in part due to documents that one side did not label: {format_list(judges)}"


def _as_lists(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return pairs of systems as JSON holds them."""
    return [list(pair) for pair in pairs]


def describe_orders(conclusion: Conclusions) -> Fact:
    """Say how far the orders of systems by a judge's labels and by human ones agree."""
    name = f"{conclusion.judge}, {conclusion.measure.label}"
    value: dict[str, object] = {
        "tau_b": finite_or_none(conclusion.tau_b),
        "tau_ap": finite_or_none(conclusion.tau_ap),
        "separated": conclusion.n_separated,
        "pairs": len(conclusion.human),
        "reversed": _as_lists(conclusion.reversed),
        "lost": _as_lists(conclusion.lost),
        "false": _as_lists(conclusion.false),
        "favoured": list(conclusion.favoured),
        "tie_std": list(conclusion.tie_std),
    }
    human_tie_std, judge_tie_std = conclusion.tie_std
    text = (
        f"orders of {len(conclusion.systems)} systems: tau_b {conclusion.tau_b:.4f}, tau_ap {conclusion.tau_ap:.4f};"
        f" tie std {human_tie_std:.4f} by humans, {judge_tie_std:.4f} by the judge"
    )
    return Fact(f"conclusions_{name}", value, name, text)
