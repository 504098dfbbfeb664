"""What bounds over unjudged documents go with among the conventions, which are checked as they are made."""

from __future__ import annotations

from deadheat.core.errors import Advice, ParameterError
from deadheat.core.settings import TIES, Conventions


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
    beside = {"unjudged": conventions.unjudged}
    if conventions.judged_only:
        raise ParameterError(argument="judged_only", given=True, allowed="False", beside=beside)
    if conventions.ties in {"best", "worst"}:
        policies = [one for one in TIES if one not in {"best", "worst"}]
        raise ParameterError(argument="ties", given=conventions.ties, allowed=policies, beside=beside)
    if conventions.no_relevant not in {None, "zero"}:
        raise ParameterError(argument="no_relevant", given=conventions.no_relevant, allowed="'zero'", beside=beside)


def highest_label(conventions: Conventions, max_relevance: float) -> float:
    """Return the highest relevance that an unjudged document can have, given the highest in the qrels."""
    top = conventions.unjudged_max_rel
    return max(max_relevance, 0.0) if top is None else float(top)
