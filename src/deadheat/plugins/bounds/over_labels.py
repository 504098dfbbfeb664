"""Bounds over the labels of unjudged documents; in qrels with failures, of those that a judge did not grade."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.evaluation.together import Asked, feature_named, refuse
from deadheat.plugins.bounds.conventions import highest_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.core.evaluation.modes import Placed
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.measures import Measure
    from deadheat.core.settings import Conventions
    from deadheat.plugins.bounds.part import PlacedBounds


class BoundsOverLabels:
    """Each unjudged document may have any relevance up to a top; in qrels with failures only those of no grade."""

    def is_on(self, conventions: Conventions, qrels: Qrels, run: Run) -> bool:  # noqa: ARG002 - as of other modes
        """Tell whether bounds were asked for, or the qrels have documents that a judge did not grade."""
        return conventions.unjudged != "zero" or qrels.open_to is not None

    def prepare(self, conventions: Conventions, qrels: Qrels, run: Run) -> Conventions:  # noqa: ARG002 - as above
        """Return conventions with bounds up to what documents without a grade may have."""
        if qrels.open_to is None:
            return conventions
        if conventions.unjudged != "zero" and conventions.unjudged_max_rel is None:  # those of failures have a top
            refuse(Asked(feature_named("bounds"), conventions.unjudged), Asked(feature_named("failures"), "failures"))
        return replace(conventions, unjudged="bounds", unjudged_max_rel=qrels.open_to)

    def finish(self, scores: list[Scores], placed: Placed) -> list[Scores]:
        """Return the scores with their bounds, which are computed on first use."""
        from deadheat.core.evaluation.scores import BOUNDS  # few evaluations have bounds

        bounds = _make_bounds_of(placed)
        return [one.with_part(BOUNDS, bounds(one.measure)) for one in scores]


def _make_bounds_of(placed: Placed) -> Callable[[Measure], PlacedBounds]:
    """Return a function that makes the bounds of a measure."""
    from deadheat.plugins.bounds.documents import as_placed, open_documents, open_ties, unjudged_documents, with_ties
    from deadheat.plugins.bounds.part import PlacedBounds

    conventions, qrels, run, placements, ranked = placed
    top, precision = highest_label(conventions, placements.max_relevance), conventions.score_precision
    if qrels.open_to is not None:
        documents = open_documents(qrels, run, conventions)
        ties = open_ties(ranked, documents)
        return lambda measure: PlacedBounds(measure, ranked, ties, top, documents.drop_nulls)
    is_far = False
    if conventions.ties == "expected":
        unjudged = with_ties(placements, run, precision, conventions.depth)
    else:
        placements, unjudged, is_far = ranked, as_placed(ranked), isinstance(run.rows, UnreadRows)
    find = None if is_far else partial(unjudged_documents, qrels, run, precision)
    return lambda measure: PlacedBounds(measure, placements, unjudged, top, find)


MODE = BoundsOverLabels()
