"""Bounds over the places of documents that a judge, whose grades rank the list, gave no grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.core.errors import ParameterError
from deadheat.core.settings import Conventions

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.core.evaluation.modes import Placed
    from deadheat.core.evaluation.scores import Scores


class BoundsOverPlaces:
    """Documents that a judge whose grades rank the list gave no grade may be anywhere in it."""

    def is_on(self, conventions: Conventions, qrels: Qrels, run: Run) -> bool:  # noqa: ARG002 - as of other modes
        """Tell whether a run has such documents."""
        return run.are_failures_open

    def prepare(self, conventions: Conventions, qrels: Qrels, run: Run) -> Conventions:  # noqa: ARG002 - as above
        """Refuse what changes the list that documents of a run may be anywhere in, or what else may be open."""
        for argument in ("depth", "judged_only", "score_precision", "unjudged"):
            given = getattr(conventions, argument)
            if given != getattr(Conventions, argument):
                raise ParameterError(
                    f"cannot be combined with documents that may be anywhere in {run.name}",
                    argument=argument,
                    given=given,
                    hint='read its grades with failed="lowest"',
                )
        return conventions

    def finish(self, scores: list[Scores], placed: Placed) -> list[Scores]:
        """Return the scores with their bounds over all places of these documents."""
        if placed.run.failures is None:
            return scores
        from deadheat.core.evaluation.scores import BOUNDS
        from deadheat.plugins.bounds.anywhere import ends_anywhere, ungraded_rows  # few runs have such documents
        from deadheat.plugins.bounds.part import KnownBounds

        is_open, n_open = ungraded_rows(placed.ranked, placed.run.failures)
        bounded = []
        for one in scores:
            ends = ends_anywhere(one.measure, placed.ranked, is_open, n_open, one.values)
            bounded.append(one.with_part(BOUNDS, KnownBounds(one.measure, ends)))
        return bounded


MODE = BoundsOverPlaces()
