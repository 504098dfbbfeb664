"""What reports of comparisons show of a judge, whose labels help to estimate differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from deadheat.core.evaluation.intervals import why_unknown
from deadheat.core.measures import Measure
from deadheat.core.report.cells import Span, p_value_cell
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import SYSTEM, Column, Fact, Table, note_fact, prose_fact, tabulate
from deadheat.core.report.score_tables import level_heading
from deadheat.core.wording import format_count
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.report import BASELINE, OF_VALUES, Parts
from deadheat.plugins.judges.by_labels import has_scores_of
from deadheat.plugins.judges.columns import columns_of_judge
from deadheat.plugins.judges.samples import not_a_sample, of_judge, strata_of_sample, tell_own_judges
from deadheat.plugins.judges.values_by_system import sampling_doubts


def tabulate_pairs(parts: Parts, leading: Iterable[Column], measure: Measure) -> Table:
    """Return what the human labels alone say of each pair, and what a judge's labels add."""
    rows = [
        {
            "stratum": stratum,
            **vars(pair),
            **vars(pair.judged),
            "human_p_value": p_value_cell(pair.judged.p_value),
            "with": pair.difference,
            "both": interval_cell(pair),
        }
        for stratum, part in parts.items()
        for pair in (part[measure] if part.by_judge and not measure.total else ())
        if pair.judged is not None
    ]
    level = level_heading(next(iter(parts.values())).design.confidence_level, set())
    columns = (
        Column("difference", "human"),
        Column("ci", level, _human_span, spare=1),
        Column("human_p_value", "human p", spare=2),
        *(replace(column, heading=f"human {column.heading}") for column in OF_VALUES),
        *columns_of_judge(level),
    )
    return tabulate("judge", (*leading, SYSTEM, BASELINE), columns, rows, title=f"{measure.label}: what the judge adds")


def _human_span(row: Mapping[str, Any]) -> Span:
    """Return the interval of a difference by human labels alone, which is by Student's t."""
    low, high = row["low"], row["high"]
    return Span(low, high, not why_unknown(low, high, row["n_queries"], None, "t"))


def tell_judge(comparison: Comparison, parts: Parts) -> list[Fact]:
    """Say what was assumed of a judge's labels, and whether they help."""
    pairs = [(pair, pair.judged) for pair in comparison.pairs if pair.judged is not None]
    name, judge = next(iter(comparison.by_judge.items()))
    n_others, n_queries = max(one.n_others for _, one in pairs), max(pair.n_queries for pair, _ in pairs)
    of = "differences, and p by Student's t and not by the test above,"
    by_humans = "means, effects, std, wins, losses and what ties can reverse are by the human labels alone"
    useless = sum(not one.weight for _, one in pairs)
    text = f"adds nothing to {useless} of {format_count(len(pairs), 'difference')}: these are of the human labels alone"
    each = ((len(one.query_ids), len(one.by_judge[name].query_ids)) for one in parts.values() if one.by_judge)
    return [
        *of_judge(judge, comparison.evaluations[name], n_others, n_queries, of),
        tell_own_judges([one.name for one in comparison.evaluations.values() if has_scores_of(judge, one.run)]),
        prose_fact("by humans", by_humans),
        note_fact("weight 0", text if useless else ""),
        *strata_of_sample(each, len(judge.query_ids)),
        *(
            not_a_sample(measure, p, "differences")
            for measure, p in sampling_doubts(comparison.by_judge, comparison.query_ids).items()
        ),
    ]
