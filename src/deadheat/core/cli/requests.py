"""What `deadheat evaluate` is asked for, as one record for the plugins that answer some requests in their own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from deadheat.core.measures import Measure
    from deadheat.core.settings import Conventions


class EvaluationRequest(NamedTuple):
    """A request for an evaluation.

    Attributes
    ----------
    qrels : str
    runs : tuple of str
        Perhaps none, where the file of `qrels` has scores too.
    form : str or None
        The name of the format of the only run, or of the qrels without any; None if there are several, or it is none.
    measures : sequence of Measure
    conventions : Conventions
    options : mapping
        All options of the command, by their parameters.
    """

    qrels: str
    runs: tuple[str, ...]
    form: str | None
    measures: Sequence[Measure]
    conventions: Conventions
    options: Mapping[str, Any]
