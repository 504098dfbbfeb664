"""Kinds of judgments: how judgments of spans, for example, differ from those of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from deadheat.core.errors import DataError
from deadheat.core.structures import T


class KindOfJudgments(NamedTuple):
    """What is different with one kind of judgments.

    Attributes
    ----------
    what : str
        What is judged, as messages say it: the name of the feature whose record says what goes with it.
    goes_with : tuple of str, default ()
        What goes with them, such as ``depth`` and ``compare``, as in a `Feature`; of a kind that ships, its plugin's
        record says it.
    default_measures : callable or None, default None
        Returns the measures, or their notation, that are computed if none are named; None: those of `evaluate`.
    measures : callable or None, default None
        Takes measures that were asked for and returns what they are here, or raises `MeasureError`; None: as they are.
    is_run : callable or None, default None
        Tells whether a list, in a dict, is a run; else it is what was retrieved for one query. None: it is the latter,
        or what a run of documents may be.
    retrieved : str, default "documents"
        What a run retrieves, as messages say it.
    lacks : str, default ""
        Why no run can be held against these judgments again, as of a file in an earlier format; "" if one can.
    """

    what: str
    goes_with: tuple[str, ...] = ()
    default_measures: Callable[[], Sequence[Any]] | None = None
    measures: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    is_run: Callable[[list[Any]], bool] | None = None
    retrieved: str = "documents"
    lacks: str = ""

    def as_judged(self, measures: Sequence[T]) -> tuple[T, ...]:
        """Return measures as they are under these judgments."""
        if self.measures is None:
            return tuple(measures)
        return tuple(self.measures(measures))

    def check_known(self, name: str) -> None:
        """Raise `DataError` if no other run can be held against these judgments, those of the evaluation `name`."""
        if self.lacks:
            raise DataError(f"{name} {self.lacks}", hint="evaluate its run again, and save it")


DOCUMENTS = KindOfJudgments("documents")
