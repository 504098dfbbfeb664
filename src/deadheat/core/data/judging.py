"""What judgments are of, and how runs are held against them: of documents, or of what a plugin knows, such as spans.

Qrels judge documents, and all runs have the same. Other judgments are a class of their own, which fulfils
`JudgesRuns`: it makes qrels for each run that it is given. What is different with them is said once, in the record of
their kind; who evaluates, compares or checks asks the record, and no class. Qrels that were made so have their
`JudgingRule` (`data/qrels.py`), which knows what they were made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeGuard

from deadheat.core.data.kind_of_judgments import DOCUMENTS, KindOfJudgments

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run


class GivesQrels(Protocol):
    """An object that is read as qrels: labelled cases, say."""

    note_on_qrels: ClassVar[str]
    """What the judgments are, for the notes of the qrels."""

    def qrels(self) -> Qrels:
        """Return them."""
        ...


class JudgesRuns(Protocol):
    """Judgments that make qrels for each run that they are given."""

    kind_of_judgments: ClassVar[KindOfJudgments]

    def judge(self, run: object, *, name: str | None = None, ascending: bool = False) -> tuple[Qrels, Run]:
        """Return the judgments of what a run retrieved, and the run, whose name is `name` if it is given."""
        ...


class JudgesAgain(JudgesRuns, Protocol):
    """Judgments that can judge a run again, of which they have the qrels that earlier ones made for it."""

    def judge_again(self, qrels: Qrels) -> Qrels:
        """Return the judgments of what the run of these qrels retrieved."""
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


def kind_behind(qrels: Qrels) -> KindOfJudgments:
    """Return the kind of judgments that qrels are, or were made of.

    Examples
    --------
    >>> from deadheat import Qrels, Spans
    >>> qrels, run = Spans([("q", "d", 0, 10)]).judge([("q", "d", 0, 8, 1.0)])
    >>> kind_behind(qrels).what, kind_behind(Qrels({"q": {"d": 1}})).what
    ('spans', 'documents')
    """
    return DOCUMENTS if qrels.judging_rule is None else qrels.judging_rule.kind
