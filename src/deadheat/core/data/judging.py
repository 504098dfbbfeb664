"""How runs are judged: by judgments of documents, or of something that a plugin knows, such as spans.

Qrels judge documents, and are the same for all runs. Other judgments have a class that fulfils `JudgesRuns`: it makes
qrels for each run. What is different with such judgments is in one record, `KindOfJudgments`: evaluations, comparisons
and checks ask it, and know no class. The qrels have a `JudgingRule` (`data/qrels.py`), which knows how they were made.
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
        """Return the qrels."""
        ...


class JudgesRuns(Protocol):
    """Judgments that make qrels for each run that they are given."""

    kind_of_judgments: ClassVar[KindOfJudgments]

    def judge(self, run: object, *, name: str | None = None, ascending: bool = False) -> tuple[Qrels, Run]:
        """Return the judgments of what a run retrieved, and the run, whose name is `name` if it is given."""
        ...


class JudgesAgain(JudgesRuns, Protocol):
    """Judgments that can judge a run again, from the qrels that earlier judgments made for it."""

    def judge_again(self, qrels: Qrels) -> Qrels:
        """Return the judgments of what the run of these qrels retrieved."""
        ...


def judges_runs(source: object) -> TypeGuard[JudgesRuns]:
    """Tell whether a source is judgments that make qrels for each run: qrels and their sources are not.

    Examples
    --------
    >>> from deadheat import Spans
    >>> judges_runs(Spans([("q", "d", 0, 10)])), judges_runs({"q": {"d": 1}})
    (True, False)
    """
    return find_kind(source) is not DOCUMENTS


def find_kind(source: object) -> KindOfJudgments:
    """Return the kind of judgments: of a class that has one, else of documents.

    Examples
    --------
    >>> from deadheat import Spans
    >>> find_kind(Spans([("q", "d", 0, 10)])).what, find_kind("qrels.txt").what
    ('spans', 'documents')
    """
    kind: KindOfJudgments = getattr(type(source), "kind_of_judgments", DOCUMENTS)
    return kind


def find_kind_of_qrels(qrels: Qrels) -> KindOfJudgments:
    """Return the kind of judgments that qrels are, or were made of.

    Examples
    --------
    >>> from deadheat import Qrels, Spans
    >>> qrels, run = Spans([("q", "d", 0, 10)]).judge([("q", "d", 0, 8, 1.0)])
    >>> find_kind_of_qrels(qrels).what, find_kind_of_qrels(Qrels({"q": {"d": 1}})).what
    ('spans', 'documents')
    """
    if qrels.judging_rule is None:
        return DOCUMENTS
    return qrels.judging_rule.kind
