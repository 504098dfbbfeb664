"""What judgments are of, and how runs are held against them: of documents, or of what a plugin knows, such as spans.

Qrels judge documents, and all runs have the same. Other judgments are a class of their own, which fulfils
`JudgesRuns`: it makes qrels for each run that it is given. What is different with them is said once, in the record of
their kind; who evaluates, compares or checks asks the record, and no class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeGuard

from deadheat.errors import ParameterError
from deadheat.structures import T

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels, Run


class KindOfJudgments(NamedTuple):
    """What is different with one kind of judgments.

    Attributes
    ----------
    what : str
        What is judged, as messages say it.
    refuses : mapping of str to str, default {}
        Arguments of `evaluate` and `compare` that cannot be given with them, and a hint for each, which may be empty.
    default_measures : callable or None, default None
        Returns the measures, or their notation, that are computed if none are named; None: those of `evaluate`.
    measures : callable or None, default None
        Takes measures that were asked for and returns what they are here, or raises `MeasureError`; None: as they are.
    """

    what: str
    refuses: Mapping[str, str] = MappingProxyType({})
    default_measures: Callable[[], Sequence[Any]] | None = None
    measures: Callable[[Sequence[Any]], Sequence[Any]] | None = None

    def as_judged(self, measures: Sequence[T]) -> tuple[T, ...]:
        """Return measures as they are under these judgments."""
        return tuple(measures if self.measures is None else self.measures(measures))

    def check_refused(self, given: Mapping[str, object]) -> None:
        """Raise `ParameterError` if an argument was given that does not go with these judgments.

        Parameters
        ----------
        given : mapping of str to object
            The arguments by name; None is not given.
        """
        for argument, hint in self.refuses.items():
            if given.get(argument) is not None:
                raise ParameterError(
                    argument=argument, found="some", allowed="None", beside={"qrels": self.what}, hint=hint
                )


DOCUMENTS = KindOfJudgments("documents")


class JudgesRuns(Protocol):
    """Judgments that make qrels for each run that they are given."""

    kind_of_judgments: ClassVar[KindOfJudgments]

    def judge(self, run: object, *, name: str | None = None, ascending: bool = False) -> tuple[Qrels, Run]:
        """Return the judgments of what a run retrieved, and the run, whose name is `name` if it is given."""
        ...


def judges_runs(source: object) -> TypeGuard[JudgesRuns]:
    """Tell whether a source is judgments that make qrels for each run; qrels, and what they are read from, are none.

    Examples
    --------
    >>> from deadheat import Spans
    >>> judges_runs(Spans([("q", "d", 0, 10)])), judges_runs({"q": {"d": 1}})
    (True, False)
    """
    return kind_of(source) is not DOCUMENTS


def kind_of(source: object) -> KindOfJudgments:
    """Return the kind of judgments: of a class that has one, else of documents.

    Examples
    --------
    >>> from deadheat import Spans
    >>> kind_of(Spans([("q", "d", 0, 10)])).what, kind_of("qrels.txt").what
    ('spans', 'documents')
    """
    kind: KindOfJudgments = getattr(type(source), "kind_of_judgments", DOCUMENTS)
    return kind
