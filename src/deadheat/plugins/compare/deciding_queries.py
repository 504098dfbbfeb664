"""The queries that decide each pair: the best and worst of the system, and those that hang on ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import FloatArray, TextArray, is_member
from deadheat.core.data.renderable import make_frame
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.plugins.compare.flips import Side, make_side, subtract_sides
from deadheat.plugins.compare.pair import Pairs


def deciding_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of the deciding queries."""
    return {
        **dict.fromkeys(("measure", "system", "baseline", "kind", "query_id"), pl.String),
        **dict.fromkeys(("difference", "value", "baseline_value", "tie_min", "tie_max", "weight"), pl.Float64),
    }


def tabulate_deciding_queries(
    evaluations: Mapping[str, Evaluation],
    measures: Sequence[Measure],
    pairs: Pairs,
    query_ids: TextArray,
    *,
    weights_of_pairs: FloatArray | None,
    n: int,
) -> pl.DataFrame:
    """Return at most `n` queries of each kind and pair, as :meth:`Comparison.queries`.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    measures : sequence of Measure
    pairs : Pairs
        As many of each measure, in their order.
    query_ids : ndarray of str, shape (n_queries,)
        The queries of all evaluations.
    weights_of_pairs : ndarray of float, shape (n_queries, n_pairs), or None
        How much each query counts; None: all the same.
    n : int
    """
    is_evaluated = {}
    for name, evaluation in evaluations.items():
        is_evaluated[name] = is_member(query_ids, evaluation.query_ids)
    n_pairs = len(pairs) // len(measures)
    rows = []
    for place, pair in enumerate(pairs):
        measure = measures[place // n_pairs]
        system = make_side(evaluations[pair.system], measure, is_evaluated[pair.system])
        baseline = make_side(evaluations[pair.baseline], measure, is_evaluated[pair.baseline])
        gap = subtract_sides(system, baseline)
        weights = None
        if weights_of_pairs is not None and pair.n_effective is not None:  # totals have none
            weights = weights_of_pairs[:, place]
        for kind, query in _choose_queries(gap, measure, weights, n):
            row = {
                "measure": pair.measure,
                "system": pair.system,
                "baseline": pair.baseline,
                "kind": kind,
                "query_id": str(query_ids[query]),
                "difference": float(gap.values[query]),
                "value": float(system.values[query]),
                "baseline_value": float(baseline.values[query]),
                "tie_min": float(gap.low[query]),
                "tie_max": float(gap.high[query]),
                "weight": None if weights is None else float(weights[query]),
            }
            rows.append(row)
    return make_frame(rows, deciding_schema())


def _choose_queries(gap: Side, measure: Measure, weights: FloatArray | None, n: int) -> Iterator[tuple[str, int]]:
    """Give the kind and place of the most extreme queries; among equals the order is that of the ids."""
    gain = measure.sign * gap.values
    size_of_kind = {"best": gain, "worst": -gain, "ties": gap.high - gap.low}
    for kind, size in size_of_kind.items():
        is_moved = ~np.isnan(gap.values) & (size > stats.NEGLIGIBLE_DIFFERENCE)
        pull = size if weights is None else size * weights
        order = np.argsort(-np.where(is_moved, pull, -np.inf), kind="stable")[:n]
        for query in order[is_moved[order]].tolist():
            yield kind, query
