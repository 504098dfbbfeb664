"""Which pairs are significant by one rule of ties alone: under the tie policy of a comparison, or by document id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, TextArray, is_member
from deadheat.core.data.renderable import make_frame
from deadheat.core.design import RANDOMIZATION, Design
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.libraries import polars as pl
from deadheat.plugins.compare.flips import Side, make_side
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.pairs import compare_sides, list_pairs

MANY_SIGNS = 1 << 27  # flips times queries, of which a few flips are tried first: all of them take a second
FEW_FLIPS = 999


def one_rule_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of what is significant by one rule of ties alone."""
    return {
        **dict.fromkeys(("measure", "system", "baseline", "rule"), pl.String),
        **dict.fromkeys(("difference", "p_adjusted", "doc_id_difference", "doc_id_p_adjusted"), pl.Float64),
    }


@dataclass(frozen=True, eq=False)
class RankedSystems:
    """The systems of a comparison, and what it says of their pairs under the tie policy.

    Attributes
    ----------
    pairs : Pairs
    evaluations : mapping of str to Evaluation
        By system.
    by_doc_id : mapping of str to list of ndarray, shape (n_queries_of_system,)
        The scores of each system by document id, for each measure.
    query_ids : ndarray of str, shape (n_queries,)
        Of all systems.
    cluster : ndarray of int, shape (n_queries,), or None
    design : Design
    """

    pairs: Pairs
    evaluations: Mapping[str, Evaluation]
    by_doc_id: Mapping[str, Sequence[FloatArray]]
    query_ids: TextArray
    cluster: IntArray | None
    design: Design

    @property
    def first(self) -> Evaluation:
        """The first evaluation, whose measures and tie policy are those of all."""
        return next(iter(self.evaluations.values()))


def find_significant_by_one_rule(systems: RankedSystems) -> pl.DataFrame:
    """Return the pairs that are significant by one rule alone, as `Comparison.significant_by_one_rule` says."""
    sides = _list_sides_by_doc_id(systems)
    if sides is None or _is_decided_alike(systems, sides):
        return make_frame([], one_rule_schema())
    by_doc_id = _compare_by_doc_id(systems, sides, systems.design)
    is_decided = ~(systems.pairs.column("undecided") | by_doc_id.column("undecided")).astype(np.bool_)
    differs = systems.pairs.column("significant") != by_doc_id.column("significant")
    ties = systems.first.ties
    rows = []
    for place in np.flatnonzero(is_decided & differs).tolist():
        pair = systems.pairs[place]
        rule = ties if pair.significant else "doc_id"
        adjusted_by_doc_id = by_doc_id[place].p_adjusted
        rows.append(
            (
                *(pair.measure, pair.system, pair.baseline, rule),
                *(pair.difference, pair.p_adjusted, pair.doc_id_difference, adjusted_by_doc_id),
            )
        )
    return make_frame(rows, one_rule_schema())


def _list_sides_by_doc_id(systems: RankedSystems) -> list[dict[str, Side]] | None:
    """Return the systems by document id, for each measure; None where that changes no value."""
    is_evaluated = {}
    for name, evaluation in systems.evaluations.items():
        is_evaluated[name] = is_member(systems.query_ids, evaluation.query_ids)
    sides_by_measure: list[dict[str, Side]] = []
    is_changed = False
    for measure in systems.first.measures:
        sides = {}
        for name, evaluation in systems.evaluations.items():
            side = make_side(evaluation, measure, is_evaluated[name], systems.by_doc_id[name])
            is_changed |= not np.array_equal(side.values, side.by_doc_id, equal_nan=True)
            sides[name] = side.ranked_by_doc_id
        sides_by_measure.append(sides)
    if not is_changed:
        return None
    return sides_by_measure


def _is_decided_alike(systems: RankedSystems, sides: list[dict[str, Side]]) -> bool:
    """Tell whether a few sign flips show that the same pairs are significant by document id.

    With very many queries all flips take seconds, and the first few mostly leave no doubt. With fewer none are tried.
    """
    design = systems.design
    n_signs = len(systems.query_ids) * design.n_resamples
    if design.test != RANDOMIZATION or n_signs < MANY_SIGNS or design.n_resamples <= FEW_FLIPS:
        return False
    by_doc_id = _compare_by_doc_id(systems, sides, replace(design, n_resamples=FEW_FLIPS, is_fixed=True))
    differs = systems.pairs.column("significant") != by_doc_id.column("significant")
    is_open = differs | by_doc_id.column("undecided").astype(np.bool_)
    is_decided = ~systems.pairs.column("undecided").astype(np.bool_)
    return not (is_open & is_decided).any()


def _compare_by_doc_id(systems: RankedSystems, sides: list[dict[str, Side]], design: Design) -> Pairs:
    """Return the pairs with ties broken by document id."""
    places = list_pairs(list(systems.evaluations), design.against)
    return compare_sides(systems.first.measures, sides, places, design=design, cluster=systems.cluster)
