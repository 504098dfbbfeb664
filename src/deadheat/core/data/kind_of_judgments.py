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
        What goes with them, such as ``depth`` and ``compare``, as in a `Feature`. A kind that ships has none here: the
        record of its plugin says it.
    default_measures : callable or None, default None
        Returns the measures, or their notation, that are computed if none are named; None: those of `evaluate`.
    measures : callable or None, default None
        Takes the measures that were asked for, and returns those that take their place with these judgments, or raises
        `MeasureError`; None: measures stay as they are.
    is_run : callable or None, default None
        Takes a list that is a value of a dict, and tells whether it is a run, so that the dict has several runs. If
        not, the dict is one run, and the list has the results of a query. None: as for runs of documents.
    retrieved : str, default "documents"
        What a run retrieves, as messages say it.
    lacks : str, default ""
        Why no further run can be judged by them, as judgments of a file in an earlier format; "" if one can.
    """

    what: str
    goes_with: tuple[str, ...] = ()
    default_measures: Callable[[], Sequence[Any]] | None = None
    measures: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    is_run: Callable[[list[Any]], bool] | None = None
    retrieved: str = "documents"
    lacks: str = ""

    def as_judged(self, measures: Sequence[T]) -> tuple[T, ...]:
        """Return the measures that take the place of these with such judgments."""
        if self.measures is None:
            return tuple(measures)
        return tuple(self.measures(measures))

    def check_known(self, name: str) -> None:
        """Raise `DataError` if no further run can be judged by these judgments, which are of the evaluation `name`."""
        if self.lacks:
            raise DataError(f"{name} {self.lacks}", hint="evaluate its run again, and save it")


DOCUMENTS = KindOfJudgments("documents")
