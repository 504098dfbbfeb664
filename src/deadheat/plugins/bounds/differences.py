"""How far labels of unjudged documents can move a difference: each document has one label where it is known by its id.

A document that both systems retrieve has one label. For the measures of :mod:`deadheat.plugins.bounds.joint_ends`
the bound counts it once, if the documents are known by their ids: then some labels give each end. Elsewhere each system
is bounded by itself, as if such a document had two labels: no labels lead outside of the ends, but these may not be
attained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, TextArray, align_values, is_member
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import BOUNDS, Scores
from deadheat.core.kernels import weighting
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.placements.beside import join_codes
from deadheat.core.placements.top_rows import TopRows
from deadheat.core.scalars import are_of_both_signs, are_of_one_sign
from deadheat.core.stats import NEGLIGIBLE_DIFFERENCE
from deadheat.plugins.bounds.conventions import highest_label
from deadheat.plugins.bounds.documents import as_placed, unjudged_documents
from deadheat.plugins.bounds.ends import deepest_counted, ends, has_ends
from deadheat.plugins.bounds.joint_ends import Pairing, UnjudgedOfTwo, has_joint_ends, joint_ends
from deadheat.plugins.bounds.part import PlacedBounds

MOST_BOUNDED = 200_000  # documents, whose bounds a verdict looks for unasked


@dataclass(frozen=True)
class LabelBound:
    """How far labels can move the mean difference of two systems.

    Attributes
    ----------
    difference : float
        With unjudged documents without a gain.
    low, high : float
        No labels give a smaller or a larger difference.
    is_attained : bool
        Whether some labels give each end.
    """

    difference: float
    low: float
    high: float
    is_attained: bool


@dataclass(frozen=True)
class OuterBound:
    """How far labels of unjudged documents can move a difference, at most.

    Labels are of what either of the two retrieves. Where `is_attained` is True, each document has one label, and some
    labels give each end. Else each system is bounded by itself, and a document that both retrieve may so have two
    labels, one in each bound: no labels lead outside of the ends, but these may not be attained.

    Attributes
    ----------
    measure, system, baseline : str
    difference : float
        ``mean - baseline_mean``, with unjudged documents without a gain.
    low, high : float
        No labels give a smaller or a larger difference.
    is_attained : bool
        Whether some labels give each end.
    """

    measure: str
    system: str
    baseline: str
    difference: float
    low: float
    high: float
    is_attained: bool = False

    @property
    def is_safe(self) -> bool:
        """Whether no labels can reverse the sign of the difference; what is 0 has none."""
        return self._has_sign and are_of_one_sign(self.low, self.high)

    @property
    def is_reversible(self) -> bool:
        """Whether some labels are known to reverse the sign of the difference; what is 0 has none."""
        return self._has_sign and self.is_attained and are_of_both_signs(self.low, self.high)

    @property
    def is_open(self) -> bool:
        """Whether it is not known if labels can reverse the sign of the difference: the ends may not be attained."""
        return self._has_sign and not self.is_attained and are_of_both_signs(self.low, self.high)

    @property
    def _has_sign(self) -> bool:
        return abs(self.difference) > NEGLIGIBLE_DIFFERENCE


@dataclass(frozen=True, eq=False)
class KnownDocuments:
    """The unjudged documents of an evaluation by their ids, as far as its run is at hand.

    Attributes
    ----------
    evaluation : Evaluation
    """

    evaluation: Evaluation

    @cached_property
    def frame(self) -> pl.DataFrame | None:
        """Return query_id, doc_id, above and tied; None where labels change more, or the run is not at hand."""
        run, conventions = self.evaluation.run, self.evaluation.conventions
        is_plain = conventions.ties == "expected" and conventions.depth is None and not conventions.judged_only
        if not is_plain or self.evaluation.qrels.open_to is not None:
            return None
        if run is None or run.are_failures_open or isinstance(run.rows, UnreadRows):
            return None
        return unjudged_documents(self.evaluation.qrels, run, conventions.score_precision)

    @cached_property
    def n_known(self) -> IntArray | None:
        """How many documents of each query's list are known; None: all."""
        run = self.evaluation.run
        if run is None or not isinstance(run.rows, TopRows):
            return None
        lists = run.to_polars().group_by("query_id").len()
        found = align_values(lists["len"].to_numpy(), lists["query_id"].to_numpy(), self.evaluation.query_ids)
        return np.nan_to_num(found).astype(np.int64)

    def are_all_known(self, measure: Measure) -> bool:
        """Return whether all documents are known whose labels change the value of a measure."""
        if self.n_known is None:
            return True
        needed = self.evaluation.placements.n_retrieved
        depth = deepest_counted(measure)
        if depth is not None:
            needed = np.minimum(needed, depth)
        return bool((self.n_known >= needed).all())


def outer_bounds(
    evaluations: Mapping[str, Evaluation], pairs: Iterable[tuple[str, str]], query_ids: TextArray
) -> Iterator[OuterBound]:
    """Yield the bound of every difference by a measure that has bounds, if they were asked for and runs are at hand.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    pairs : iterable of (str, str)
        The system and the baseline of each difference.
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    """
    measures = []
    for measure in next(iter(evaluations.values())).measures:
        of_systems = [evaluation[str(measure)] for evaluation in evaluations.values()]
        if all(one.has_unjudged_bounds and isinstance(one.unjudged, PlacedBounds) for one in of_systems):
            measures.append(measure)
    if not measures:
        return
    bounds: dict[Measure, list[OuterBound]] = {measure: [] for measure in measures}
    documents = {name: _documents(evaluation, measures[0]) for name, evaluation in evaluations.items()}
    known = {name: KnownDocuments(evaluation) for name, evaluation in evaluations.items()}
    for system, baseline in pairs:
        shared = documents[system].join(documents[baseline], on=["query_id", "doc_id"]).group_by("query_id").len()
        n_shared = np.nan_to_num(align_values(shared["len"].to_numpy(), shared["query_id"].to_numpy(), query_ids))
        unjudged = unjudged_of_two(known[system], known[baseline], query_ids)
        for measure in measures:
            scores, other_scores = evaluations[system][str(measure)], evaluations[baseline][str(measure)]
            bound = difference_bounds(scores, other_scores, query_ids, n_shared.astype(np.int64))
            if bound and unjudged and unjudged.are_all_known(measure):
                bound = unjudged.bound(scores, other_scores, bound)
            if bound:
                bounds[measure].append(OuterBound(measure.label, system, baseline, **vars(bound)))
    for of_measure in bounds.values():
        yield from of_measure


def bound_of_pair(
    evaluation: Evaluation, other: Evaluation, measure: Measure, query_ids: TextArray
) -> LabelBound | None:
    """Return the bound of one difference unasked; None where none is known, or it would take long.

    Parameters
    ----------
    evaluation, other : Evaluation
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    """
    scores, other_scores = bounded(evaluation, measure), bounded(other, measure)
    if scores is None or other_scores is None:
        return None
    n_shared = np.zeros(len(query_ids), np.int64)
    bound = difference_bounds(scores, other_scores, query_ids, n_shared)
    if bound is None or not has_joint_ends(measure):
        return bound
    unjudged = unjudged_of_two(KnownDocuments(evaluation), KnownDocuments(other), query_ids)
    if unjudged is None or not unjudged.are_all_known(measure):
        return bound
    return unjudged.bound(scores, other_scores, bound)


@dataclass(frozen=True, eq=False)
class KnownPair:
    """Two evaluations whose unjudged documents are known by their ids.

    Attributes
    ----------
    sides : tuple of two KnownDocuments
    query_ids : ndarray of str, shape (n_queries,)
        The queries that both have, sorted.
    documents : UnjudgedOfTwo
        Of these queries.
    """

    sides: tuple[KnownDocuments, KnownDocuments]
    query_ids: TextArray
    documents: UnjudgedOfTwo

    def are_all_known(self, measure: Measure) -> bool:
        """Return whether all documents are known whose labels change the difference by a measure."""
        return has_joint_ends(measure) and all(side.are_all_known(measure) for side in self.sides)

    def bound(self, scores: Scores, other_scores: Scores, outer: LabelBound) -> LabelBound:
        """Return the bound in which each document has one label, inside of the outer one."""
        first, second = scores.unjudged, other_scores.unjudged
        if not isinstance(first, PlacedBounds) or not isinstance(second, PlacedBounds):
            return outer
        placements = (
            first.placements.select(is_member(scores.query_ids, self.query_ids)),
            second.placements.select(is_member(other_scores.query_ids, self.query_ids)),
        )
        low, high = joint_ends(scores.measure, Pairing(placements, self.documents, max(first.top, second.top)))
        values = align_values(scores.values, scores.query_ids, self.query_ids)
        other_values = align_values(other_scores.values, other_scores.query_ids, self.query_ids)
        keep = ~np.isnan(values - other_values)
        weights = None
        if scores.weights is not None:
            weights = align_values(scores.weights, scores.query_ids, self.query_ids)[keep]
        return LabelBound(
            outer.difference, weighting.mean(low[keep], weights), weighting.mean(high[keep], weights), is_attained=True
        )


def unjudged_of_two(first: KnownDocuments, second: KnownDocuments, query_ids: TextArray) -> KnownPair | None:
    """Return the unjudged documents of two evaluations, each once; None where they are not known.

    Parameters
    ----------
    first, second : KnownDocuments
        Of the same judgments: others would judge other documents.
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    """
    qrels, other_qrels = first.evaluation.qrels, second.evaluation.qrels
    if qrels is not other_qrels and qrels.fingerprint != other_qrels.fingerprint:
        return None
    if first.frame is None or second.frame is None:
        return None
    have_both = is_member(query_ids, first.evaluation.query_ids) & is_member(query_ids, second.evaluation.query_ids)
    common = query_ids[have_both]
    joined = first.frame.join(second.frame, on=["query_id", "doc_id"], how="full", coalesce=True, suffix="_second")
    rows = join_codes(joined, common.tolist()).sort("code").fill_null(0)
    documents = UnjudgedOfTwo(
        query=rows["code"].to_numpy().astype(np.int64),
        above=np.stack([rows["above"].to_numpy(), rows["above_second"].to_numpy()]),
        tied=np.stack([rows["tied"].to_numpy(), rows["tied_second"].to_numpy()]),
    )
    return KnownPair((first, second), common, documents)


def difference_bounds(scores: Scores, other: Scores, query_ids: TextArray, both: IntArray) -> LabelBound | None:
    """Return the mean difference of two systems and its outer bounds; None where no query has a value for both.

    Parameters
    ----------
    scores, other : Scores
        With placed bounds.
    query_ids : ndarray of str, shape (n_queries,)
    both : ndarray of int, shape (n_queries,)
        Unjudged documents that both retrieve, as far as is known.
    """
    value, low, high = _beside(scores, other, query_ids, both)
    its_value, its_low, its_high = _beside(other, scores, query_ids, both)
    keep = ~np.isnan(value - its_value)
    if not keep.any():
        return None
    weights = None if scores.weights is None else align_values(scores.weights, scores.query_ids, query_ids)[keep]
    difference, least, most = (
        weighting.mean(one[keep], weights) for one in (value - its_value, low - its_high, high - its_low)
    )
    return LabelBound(difference, least, most, is_attained=False)


def bounded(evaluation: Evaluation, measure: Measure) -> Scores | None:
    """Return the scores of a measure with bounds over unjudged documents from placements alone.

    None where there are no such bounds, labels change more than gains, the documents are so many that it takes long, or
    they are those of one repeat of several.
    """
    conventions = evaluation.conventions
    is_plain = conventions.ties == "expected" and conventions.no_relevant in {None, "zero"}
    if not is_plain or conventions.judged_only or conventions.depth or not has_ends(measure):
        return None
    placements, scores = evaluation.placements_of(measure), evaluation[str(measure)]
    if placements.n_retrieved.sum() > MOST_BOUNDED or scores.several_runs:
        return None
    top = highest_label(conventions, placements.max_relevance)
    return scores.with_part(BOUNDS, PlacedBounds(measure, placements, as_placed(placements), top, None))


def _documents(evaluation: Evaluation, measure: Measure) -> pl.DataFrame:
    """Return query_id and doc_id of what was retrieved unjudged, as far as is known, but for ties that a depth cuts."""
    bounds, depth = evaluation[str(measure)].unjudged, evaluation.conventions.depth
    if not isinstance(bounds, PlacedBounds) or bounds.documents is None:
        return pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String})
    found = bounds.documents()
    return found.filter(True if depth is None else found["above"] + found["tied"] <= depth).select("query_id", "doc_id")


def _beside(scores: Scores, other: Scores, query_ids: TextArray, both: IntArray) -> FloatArray:
    """Return values and ends over all queries, of shape (3, n_queries), where the other's documents have labels too.

    What only the other retrieves unjudged may be relevant and not retrieved here: it counts in divisors.
    """
    bounds, its = (cast("PlacedBounds", one.unjudged) for one in (scores, other))  # looked at before
    own, others = (is_member(query_ids, one.query_ids) for one in (scores, other))
    lost = -both
    lost[others] += its.unjudged.counts()
    unjudged = replace(bounds.unjudged, lost=np.maximum(lost[own], 0))  # repeated rows may count twice
    low, high = ends(scores.measure, bounds.placements, unjudged, bounds.top)
    found = np.full((3, len(query_ids)), np.nan)
    found[:, own] = scores.values, low, high
    return found
