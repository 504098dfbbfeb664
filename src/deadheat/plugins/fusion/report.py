"""The report of fused runs: how many documents tie, and what the order of equal scores could have done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import Measure
from deadheat.core.placements.grouping import group_scores
from deadheat.core.report.cells import Span, format_cell, share_cell
from deadheat.core.report.model import SYSTEM, Column, Fact, Report, note_fact, prose_fact, tabulate
from deadheat.core.report.totals import mean_cell
from deadheat.core.wording import format_count
from deadheat.plugins.fusion.fuse import FusedRuns
from deadheat.plugins.fusion.judged import JudgedPool
from deadheat.plugins.fusion.orders import DrawnOrders, draw_orders

COLUMNS = (
    Column("n_queries", "queries"),
    Column("n_documents", "documents"),
    Column("tied", "tied", lambda row: share_cell(row["tied"])),
)
OF_TIED = "share of the documents that have the score of another one of their query"


@dataclass(frozen=True)
class Scored:
    """What judgments say of the inputs and the result.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
    orders : DrawnOrders
    """

    evaluations: dict[str, Evaluation]
    orders: DrawnOrders


def score_fused(fused: FusedRuns, qrels: Qrels, measures: tuple[Measure, ...], rng: int = 0) -> Scored:
    """Evaluate the inputs and the result, and draw orders of equal scores of the inputs."""
    runs = {run.name: run for run in (*fused.inputs, fused.run)}
    evaluations = dict(evaluate(qrels, runs, measures))
    orders = draw_orders(fused, JudgedPool.of(fused.pool, qrels), measures, rng)
    return Scored(evaluations, orders)


def report_fused(fused: FusedRuns, scored: Scored | None = None, *, path: str | None = None) -> Report:
    """Return the report of fused runs.

    Parameters
    ----------
    fused : FusedRuns
    scored : Scored, optional
        With judgments.
    path : str, optional
        Where the result was written.
    """
    rows = [_row(run, scored) for run in (*fused.inputs, fused.run)]
    columns = list(COLUMNS)
    measures = () if scored is None else scored.orders.measures
    for measure in measures:
        columns.append(Column(measure.label, measure.label))
    table = tabulate("fusion", (SYSTEM,), columns, rows)
    recipe = fused.recipe.describe()
    facts = [
        Fact("method", fused.recipe.method.name, "method", recipe, brief=recipe),
        prose_fact("tied", OF_TIED),
        *(note_fact("inputs", note) for note in fused.run.notes),
    ]
    if scored is not None:
        facts += _facts_of_orders(scored)
    if path is not None:
        facts.append(Fact("written", path, "written", path, brief=path))
    return Report((table,), tuple(facts))


def _row(run: Run, scored: Scored | None) -> dict[str, Any]:
    """Return the numbers of one run."""
    groups = group_scores(run.to_polars())
    n_documents = int(groups.n_documents.sum())
    row: dict[str, Any] = {
        "system": run.name,
        "n_queries": len(groups.query_ids),
        "n_documents": n_documents,
        "tied": groups.tie_size.sum() / n_documents if n_documents else 0.0,
    }
    if scored is not None:
        for scores in scored.evaluations[run.name]:
            row[scores.measure.label] = mean_cell(scores)
    return row


def _facts_of_orders(scored: Scored) -> list[Fact]:
    """Say how far the order of equal scores in the inputs moves each measure of the result."""
    orders = scored.orders
    if not len(orders.means):
        return [Fact("orders", None, "tie order", "no order of equal scores in the inputs changes the result")]
    value: dict[str, list[float]] = {}
    texts = []
    for place, measure in enumerate(orders.measures):
        ends = orders.range_of(place)
        assert ends is not None  # noqa: S101 - there are orders
        value[measure.label] = list(ends)
        texts.append(f"{measure.label} {format_cell(Span(*ends))}")
    drawn = format_count(len(orders.means), "drawn order")
    text = f"the result would be {', '.join(texts)} by {drawn} of equal scores in the inputs; its own ties stay ties"
    return [Fact("orders", value, "tie order", text, brief=text)]
