"""What bounds over unjudged documents go with among the conventions, which are checked as they are made."""

from __future__ import annotations

from deadheat.core.errors import Advice, ParameterError
from deadheat.core.evaluation.together import check_asked
from deadheat.core.settings import Conventions


def check_settings(conventions: Conventions) -> None:
    """Raise `ParameterError` for a top without bounds, and for what does not go with bounds.

    Labels of unjudged documents must change gains alone, neither lists nor which queries count.
    """
    if conventions.unjudged == "zero":
        if conventions.unjudged_max_rel is not None:
            raise ParameterError(
                "requires bounds over unjudged documents",
                argument="unjudged_max_rel",
                given=conventions.unjudged_max_rel,
                hint=Advice("unjudged", "bounds"),
            )
        return
    check_asked(vars(conventions))


def highest_label(conventions: Conventions, max_relevance: float) -> float:
    """Return the highest relevance that an unjudged document can have, given the highest in the qrels."""
    top = conventions.unjudged_max_rel
    return max(max_relevance, 0.0) if top is None else float(top)
