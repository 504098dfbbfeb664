"""An evaluation of values that another tool computed."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import FloatArray, TextArray
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import Conventions
from deadheat.plugins.values.checks import check_summary
from deadheat.plugins.values.measure import make_measure
from deadheat.plugins.values.origin import OfAnotherTool, make_judgments
from deadheat.plugins.values.table import ValueTable

CONVENTIONS = Conventions(missing="skip")
"""A query without a row is left out, as one that a run lacks; what else the tool did is not known."""


def make_evaluation(table: ValueTable) -> Evaluation:
    """Return the evaluation that has these values: without documents, and without what ties make of them.

    Raises
    ------
    DataError
        There is no value of a single query, two names are of one measure, or the rows of all queries contradict others.
    """
    if not table.values:
        raise DataError(
            "has no value of a single query",
            hint="trec_eval -q and ir_measures -q print them",
            path=table.where,
        )
    left_out = check_summary(table)
    query_ids = table.query_ids
    ids: TextArray = np.array(query_ids, object)
    placements = _make_empty_placements(ids)
    scores: dict[Measure, Scores] = {}
    names: dict[Measure, str] = {}
    for name in table.values:
        measure = make_measure(name)
        if measure in scores:
            raise DataError(
                f"{names[measure]} and {name} are the same measure, {measure}",
                hint="leave one of them out",
                path=table.where,
            )
        values = np.array(table.list_values(name, query_ids), np.float64)
        scores[measure] = _make_scores(measure, ids, values, placements)
        names[measure] = name
    in_order = sorted(scores.values(), key=lambda one: one.measure.total)  # counts say less of a system, and come last
    return Evaluation(
        in_order,
        name=table.name,
        query_ids=ids,
        conventions=CONVENTIONS,
        placements=placements,
        qrels=make_judgments(OfAnotherTool(table.tool)),
        notes=tuple(filter(None, (_describe_origin(table), left_out))),
    )


def _describe_origin(table: ValueTable) -> str:
    """Say whose values these are, and what rounding may do to them."""
    text = f"values of {table.tool}, not computed here"
    if table.decimals is None:
        return text
    unit = f"{10.0**-table.decimals:.{table.decimals}f}"
    return f"{text}; rounded to {table.decimals} decimals, so that a difference of means may be off by up to {unit}"


def _make_scores(measure: Measure, ids: TextArray, values: FloatArray, placements: Placements) -> Scores:
    """Return scores of which the values are known, and nothing over the orders of ties."""
    unknown = np.full(len(values), np.nan)
    spread = TieSpread.known(
        measure,
        placements,
        mean=values,  # as far as it is known
        std=unknown,
        extremes=(unknown, unknown),
        standard_error=np.zeros(len(values)),
        has_relevant=np.ones(len(values), np.bool_),  # so that no query is said to lack one
        reachable=unknown,
    )
    return Scores(measure, ids, values, spread)


def _make_empty_placements(ids: TextArray) -> Placements:
    """Return placements of queries of which no document is known."""
    no_rows = np.zeros(0, np.int64)
    no_numbers = np.zeros(0, np.float64)
    return Placements(
        query_ids=ids,
        n_retrieved=np.zeros(len(ids), np.int64),
        query=no_rows,
        documents=np.zeros(0, object),
        relevance=no_numbers,
        above=no_rows,
        tied=no_rows,
        judged_query=no_rows,
        judged_relevance=no_numbers,
        max_relevance=0.0,
    )
