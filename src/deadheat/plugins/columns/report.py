"""The report of many scorings of one collection: which column ranks best, and what that is worth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures import Measure
from deadheat.core.report.cells import format_cell, share_cell
from deadheat.core.report.conventions import tell_conventions, tell_ties
from deadheat.core.report.data_facts import tell_unshared, tell_without_relevant, warn_of_nothing_judged
from deadheat.core.report.model import Column, Fact, Report, tabulate
from deadheat.core.report.totals import mean_cell, tell_counts
from deadheat.core.scalars import NOISE
from deadheat.core.stats.selection import Selection, resample_choice
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.columns.scorings import Scored
from deadheat.version import __version__

ENDS = ("tie_min", "tie_max")


def numbers_of(scored: Scored) -> dict[str, Any]:
    """Return what the report needs of one column, so that the evaluations of many need not be kept.

    That is the cells of its row, and the values of the first measure.
    """
    first, *_ = scores = list(scored.evaluation)
    return {
        "column": scored.name,
        **{one.measure.label: mean_cell(one) for one in scores},
        **{end: mean_cell(first, end) for end in ENDS},
        "tied": share_cell(scored.n_tied / max(scored.n_documents, 1)),
        "reversed": scored.reversed,
        "level": first.reported(),
        "values": first.values,
    }


def report_columns(
    columns: Sequence[dict[str, Any]],
    first: Evaluation,
    *,
    qrels: str,
    table: str,
    is_ascending: bool = False,
    seed: int | None = None,
    digits: int | None = None,
) -> Report:
    """Return the report of columns, sorted by the first measure, the best first.

    Parameters
    ----------
    columns : sequence of dict
        What :func:`numbers_of` returns.
    first : Evaluation
        Of any of them: they share measures, conventions, queries and judgments.
    qrels, table : str
        The names of the files.
    is_ascending : bool, default False
        Whether lower scores ranked first.
    seed : int, optional
        Of ``ties="random"``.
    digits : int, optional
        Decimals of the numbers in sentences.
    """
    measure, conventions = first.measures[0], first.conventions
    levels = np.array([column["level"] for column in columns], np.float64)
    order = np.argsort(first_ranks(measure.sign * levels), kind="stable")  # those without a level come last
    ranked = [columns[place] for place in order.tolist()]
    values = np.array([one["values"] for one in ranked])
    is_choice = values.shape[0] > 1 and values.shape[1] > 1 and not np.isnan(values).all(0).any()
    choice = resample_choice(values, higher_is_better=measure.higher_is_better) if is_choice else None
    if choice:
        ranked = [
            {**one, "best_share": share_cell(own)} for one, own in zip(ranked, choice.shares.tolist(), strict=True)
        ]
    heads = [
        Column(measure.label, measure.label),
        *(Column(end, end.replace("_", " "), spare=1) for end in ENDS),
        Column("tied", "tied", spare=1),
        Column("reversed", "descending" if is_ascending else "ascending", spare=2),
        *([Column("best_share", "best", spare=3)] if choice else []),
        *(Column(one.label, one.label, spare=3 + n) for n, one in enumerate(first.measures) if n),
    ]
    n_queries = len(first.query_ids) + (len(first.missing_queries) if conventions.missing == "skip" else 0)
    text = f"{format_count(len(ranked), 'column')} of {table}, {format_count(n_queries, 'query', 'queries')} in {qrels}"
    data = "; ".join(first.notes)
    warned = Fact("nothing_judged", value=True, heading="WARNING", text=warn_of_nothing_judged(table), is_warning=True)
    facts = (
        *([warned] if first.placements.is_unmatched else []),
        Fact("deadheat", __version__),
        Fact("qrels", qrels),
        Fact("table", table),
        Fact("n_columns", len(ranked), "columns", text, brief=text),
        Fact("n_queries", n_queries),
        *tell_ties(first.ties, seed),
        _effect(ranked, measure, digits),
        _reversed(ranked, measure, is_ascending=is_ascending),
        *([_chosen(ranked[0]["column"], len(ranked), first, choice, digits)] if choice else []),
        *tell_counts(first.measures),
        *tell_conventions([first]),
        *tell_unshared([first], conventions.missing, is_alone=True),
        *tell_without_relevant([first]),
        Fact("notes", list(first.notes), "data", data, brief=data),
    )
    return Report((tabulate("columns", [Column("column", "column")], heads, ranked),), facts)


def _effect(ranked: Sequence[dict[str, Any]], measure: Measure, digits: int | None) -> Fact:
    """Say which column ties move most, and whether that is enough for another rank."""
    best, *others = ranked
    most = max(ranked, key=lambda one: np.nan_to_num(one["tie_max"] - one["tie_min"]))
    name, span = most["column"], float(most["tie_max"] - most["tie_min"])
    if not span > NOISE:
        return Fact("effect_of_ties", None, "tie order", f"no order of equal scores changes {measure.label}")
    end = "tie_max" if measure.higher_is_better else "tie_min"
    reach = [one["column"] for one in others if measure.sign * (one[end] - best["level"]) > NOISE]
    text = f"moves {measure.label} of column {name} by up to {format_cell(span, digits)}"
    if reach:
        text += f"; {format_count(len(reach), 'column')} could pass column {best['column']} ({format_list(reach)})"
    value = {"column": name, "range": span, "could_pass_the_best": reach}
    return Fact("effect_of_ties", value, "tie order", text, brief=text)


def _reversed(ranked: Sequence[dict[str, Any]], measure: Measure, *, is_ascending: bool) -> Fact:
    """Name the columns that rank better the other way round."""
    found = [
        one["column"]
        for one in ranked
        if one["reversed"] is not None and measure.sign * (one["reversed"] - one["level"]) > NOISE
    ]
    way = "descending, without --ascending" if is_ascending else "ascending, as --ascending does"
    text = f"{format_count(len(found), 'column')} would rank better {way}: {format_list(found)}" if found else ""
    return Fact("better_reversed", found, "direction", text, brief=text)


def _chosen(best: str, n_columns: int, first: Evaluation, choice: Selection, digits: int | None) -> Fact:
    """Warn that the best of many was chosen on the queries that it is judged by."""
    measure, best_share = first.measures[0], float(choice.shares[0])
    optimism = None if measure.geometric or measure.total else choice.optimism
    value = {
        "best": best,
        "n_columns": n_columns,
        "n_queries": len(first.query_ids),
        "share": best_share,
        "optimism": optimism,
        "n_resamples": choice.n_resamples,
    }
    by = "" if optimism is None else f" by about {format_cell(optimism, digits)}"
    queries, shown = format_count(len(first.query_ids), "query", "queries"), format_cell(share_cell(best_share))
    text = (
        f"{measure.label} of column {best} is too high{by}: chosen as the best of {format_count(n_columns, 'column')}"
        f" on these {queries}; best in {shown} of {choice.n_resamples:,} resamples. Choose on some queries and report"
        " others, or use deadheat compare"
    )
    return Fact("selection", value, "selection", text, is_note=True)
