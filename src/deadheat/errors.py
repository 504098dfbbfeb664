"""Every exception of deadheat: one tree, each branch also a built-in type that callers already catch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.wording import LONGEST_GIVEN, PYTHON, Advice, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from deadheat.wording import Words

COMMAND = re.compile(r"(^\s*|#(?=#\[))([:#])(?=:[a-z-]+(?: [^:]*)?::|\[)")  # of GitHub, in the log of a build
ABSENT: Any = object()  # no value was given, where None may be one


class DeadheatError(Exception):
    """Base of everything that deadheat raises on purpose.

    Its parts are attributes, None where they make no sense; ``str(error)`` puts them into the words of Python, as in
    ``argument must be allowed, got given: hint`` or ``path:line: problem, expected allowed, got given: hint``.

    Parameters
    ----------
    problem : str, optional
        What is wrong.
    argument : str, optional
        The argument that is wrong: what the sentence is about.
    given : object, optional
        Its value, or what else was found.
    allowed : str or collection of str, optional
        What would be right; of several words, the one that is nearest to `given` is the hint.
    beside : dict of str to object, optional
        Other arguments, because of which that is so, with their values; None names the argument alone.
    hint : str or Advice, optional
        What to do.
    python : str, optional
        What a caller in Python can do beside it.
    path : path-like, optional
        The file that holds the offending data.
    line : int, optional
        Its 1-based line.
    """

    longest_given = LONGEST_GIVEN

    def __init__(
        self,
        problem: str | None = None,
        *,
        argument: str | None = None,
        given: object = ABSENT,
        allowed: str | Collection[str] | None = None,
        beside: Mapping[str, object] | None = None,
        hint: str | Advice | None = None,
        python: str | None = None,
        path: str | Path | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(problem)  # all that `copy` and `pickle` call it with; the other parts are in its dict
        self.problem = problem
        self.argument = argument
        self.is_given = given is not ABSENT
        self.given = given if self.is_given else None
        self.allowed = allowed
        self.beside = beside
        self.hint = hint or None
        self.python = python
        self.path = None if path is None else Path(path)
        self.line = line

    def __str__(self) -> str:
        return self.told()

    def told(self, words: Words = PYTHON, *, has_place: bool = True) -> str:
        """Return the parts as a text: in the words of Python, or of a command; with its place, or without."""
        place = "" if self.path is None or not has_place else f"{printable(str(self.path))}:"
        place += f"{self.line}: " if place and self.line is not None else " " * bool(place)
        choices = () if isinstance(self.allowed, str | None) else tuple(self.allowed)
        allowed = f"one of {', '.join(map(repr, choices))}" if choices else str(self.allowed or "")
        if self.argument:
            text = f"{words.argument(self.argument)} {self.problem or f'must be {allowed}'}"
        else:
            text = ", ".join(filter(None, [self.problem, allowed and f"expected {allowed}"]))
        if self.beside:
            text += f" with {', '.join(words.argument(*one) for one in self.beside.items())}"
        if self.is_given:
            text += f", got {words.given(self.given, self.longest_given)}"
        hint = words.advice(self.hint, self.path) if isinstance(self.hint, Advice) else self.hint
        hint = hint or (did_you_mean(self.given, choices) if choices else "")
        if hint:
            end = "." if hint[0].isupper() else ";" if self.is_given else ":"
            text = f"{text.removesuffix('.' * (end == '.'))}{end} {hint}"
        return place + text + (f"; {self.python}" if self.python and words.is_python else "")


class DataError(DeadheatError, ValueError):
    """The input data cannot be evaluated as it is."""

    longest_given = 80


class FileFormatError(DataError):
    """A file is not in the format that its name or its use promises (empty, binary, truncated, wrong encoding)."""


class MalformedRowError(FileFormatError):
    """A row has too few or too many fields, or a field that cannot be read."""


class SwappedFilesError(FileFormatError):
    """A run was given where qrels were expected, or the other way round."""


class ColumnError(DataError):
    """A table lacks a column that is needed, or holds it with the wrong type."""


class ScoreError(DataError):
    """A score is NaN, null, not a number, or an integer that float64 cannot hold."""


class RelevanceError(DataError):
    """A relevance is NaN, infinite, null or not a number."""


class NullIdError(DataError):
    """A query id or document id is missing."""


class DuplicateError(DataError):
    """A (query, document) pair stands more than once in a run or in the qrels."""


class EmptyDataError(DataError):
    """Qrels or a run without a single row."""


class NoCommonQueryError(DataError):
    """Qrels and run share no query."""


class MissingQueryError(DataError):
    """The run lacks queries of the qrels, and ``missing="error"`` was asked for."""


class RowOrderError(DataError):
    """``ties="input"`` was asked of a source that has no row order."""


class BaselineMismatchError(DataError):
    """Two evaluations are of different qrels, queries, conventions or measures."""


class CasesError(DataError):
    """Labelled cases that cannot be used: each of them is named, with its place.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, one by one.
    """

    def __init__(
        self, problem: str | None = None, *, path: str | Path | None = None, findings: Iterable[Any] = ()
    ) -> None:
        super().__init__(problem, path=path)
        self.findings = tuple(findings)


class ParameterError(DeadheatError, ValueError):
    """An argument has a value that is not allowed."""


class MeasureError(ParameterError):
    """A measure's notation cannot be read, or one of its parameters is wrong.

    Attributes
    ----------
    measure : str or None
        Its name, if the error is about a parameter.
    """

    def __init__(self, problem: str | None = None, *, measure: str | None = None, **parts: Any) -> None:  # noqa: ANN401 - those of its base
        super().__init__(problem, **parts)
        self.measure = measure

    def told(self, words: Words = PYTHON, *, has_place: bool = True) -> str:
        """Return the parts as a text, behind the name of the measure."""
        text = super().told(words, has_place=has_place)
        return text if self.measure is None else f"{self.measure}: {text}"


class UnknownMeasureError(MeasureError, KeyError):
    """No measure has this name, or an evaluation does not hold it."""


class GateError(ParameterError):
    """A gate cannot be read, or there is none."""


class SourceTypeError(DeadheatError, TypeError):
    """An object is of a type that deadheat cannot read."""


class MissingDependencyError(DeadheatError, ImportError):  # type: ignore[misc]  # its path is a file here too
    """An optional package is needed and not installed."""


class ForkError(DeadheatError, RuntimeError):
    """A forked process cannot read files or frames, because Polars had computed before the fork."""


class DeadheatWarning(UserWarning):
    """The data can be evaluated, but the result is probably not what was wanted; a class below it is one cause."""


class MissingQueriesWarning(DeadheatWarning):
    """A run lacks most queries, which count as empty rankings."""


class NothingJudgedWarning(DeadheatWarning):
    """No retrieved document is judged: most often the ids are written in two ways."""


class MixedLanguagesWarning(DeadheatWarning):
    """Strata average over queries in several languages."""


class UnlabelledQueriesWarning(DeadheatWarning):
    """Queries without a value in a column of strata form a stratum of their own."""


class SlowMeasureWarning(DeadheatWarning):
    """The exact value of a measure takes long."""


class LittleProofWarning(DeadheatWarning):
    """A gate passed, but proves little."""


class UnlabelledTermsWarning(DeadheatWarning):
    """Terms of an ontology without a label are left out of a collection."""


class ObsoleteParentWarning(DeadheatWarning):
    """Relations of an ontology to obsolete parents are left out."""


class SynonymTypesWarning(DeadheatWarning):
    """A file of an ontology has types of synonyms, which its format does not let us read."""


class UnknownDocumentsWarning(DeadheatWarning):
    """A retriever found documents that its collection does not have."""


class CacheWarning(DeadheatWarning):
    """Embeddings cannot be kept."""


class InfiniteScoreWarning(DeadheatWarning):
    """A precision of scores cannot hold one of them: it becomes infinite."""


class FractionsWarning(DeadheatWarning):
    """A column that is called score is read as relevance, and has fractions."""


class LockWarning(DeadheatWarning):
    """A folder cannot be locked, so that nothing keeps two processes apart."""


class NoteWarning(DeadheatWarning):
    """What a benchmark repeats in the notes of its report."""


class RetrieverNameWarning(NoteWarning):
    """A file has the name of a retriever, and is not meant by it."""


class UnusedOntologyWarning(NoteWarning):
    """An ontology was given, and no measure uses it."""


class MissingDocumentsWarning(NoteWarning):
    """Expected ids are not in the collection that is searched, or not in the ontology."""


class UnknownTermsWarning(NoteWarning):
    """Ids are no terms of the ontology that judges them."""


class UnknownExpectedWarning(UnknownTermsWarning):
    """Expected ids are among them."""


def printable(text: str, kept: str = "") -> str:
    r"""Return a text in which what a terminal would obey, or nobody could see, is an escape as Python writes it.

    These are control characters, line ends, marks that change the direction of writing, characters without a width,
    and halves of characters. Blanks of all widths stay.

    Parameters
    ----------
    text : str
    kept : str, default ""
        Such characters that stay.

    Examples
    --------
    >>> print(printable("q\x1b[2J\n\u202e1"))
    q\x1b[2J\n\u202e1
    """
    if text.isprintable():
        return text
    import unicodedata  # only a rare text needs it

    raw = [one for one in set(text) if not (one.isprintable() or one in kept or unicodedata.category(one) == "Zs")]
    return text.translate({ord(one): repr(one)[1:-1] for one in raw})


def on_terminal(text: str) -> str:
    r"""Return a text of one line that neither a terminal nor a build on GitHub obeys.

    Examples
    --------
    >>> print(on_terminal("q\x1b[2J"), on_terminal("::error::q"), on_terminal("##[error]q"))
    q\x1b[2J \x3a:error::q #\x23[error]q
    """
    return COMMAND.sub(lambda found: f"{found[1]}\\x{ord(found[2]):02x}", printable(text))
