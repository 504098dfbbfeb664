"""Every exception and warning of deadheat: one tree, whose branches are also built-in types that callers catch."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from deadheat.wording import LONGEST_GIVEN, PYTHON, Advice, Words, did_you_mean, printable

ABSENT: Any = object()  # "not given", where None may be the value that was given


class DeadheatError(Exception):
    """Base of everything that deadheat raises on purpose.

    Its parts are attributes, None where they do not apply; ``str(error)`` joins them for a Python caller, as in
    ``argument must be allowed, got given: hint`` or ``path:line: problem, expected allowed, got given: hint``.

    Parameters
    ----------
    problem : str, optional
        What is wrong.
    argument : str, optional
        The argument that is wrong, the subject of the sentence.
    given : object, optional
        Its value, or whatever was found instead.
    allowed : str or collection of str, optional
        What is allowed; of a collection, the word nearest to `given` becomes the hint.
    beside : dict of str to object, optional
        Other arguments that rule the value out, with their values; None names the argument alone.
    hint : str or Advice, optional
        What to do.
    python : str, optional
        What else a Python caller can do.
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
        super().__init__(problem)  # `copy` and `pickle` call it with this alone; the other parts are in its dict
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
        """Return the message, worded for Python or for the command line, with or without the path and line."""
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
        return place + text + (f"; {self.python}" if self.python and words.options is None else "")


class DataError(DeadheatError, ValueError):
    """The input data cannot be evaluated as it is."""

    longest_given = 80


class FileFormatError(DataError):
    """A file is not in the format that its name or its use implies (empty, binary, truncated, wrong encoding)."""


class MalformedRowError(FileFormatError):
    """A row has too few or too many fields, or a field that cannot be read."""


class SwappedFilesError(FileFormatError):
    """A run was given where qrels were expected, or the other way round."""


class ColumnError(DataError):
    """A table lacks a column that is needed, or the column has the wrong type."""


class DuplicateError(DataError):
    """A (query, document) pair appears more than once in a run or in the qrels."""


class CasesError(DataError):
    """Labelled cases cannot be used; the message names each of them and where it is.

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


class NotKeptError(DataError):
    """What a saved evaluation keeps of its ranking is too little to score it again.

    Attributes
    ----------
    queries : dict of str to tuple of str
        The measures that cannot be known, and for which queries.
    """

    def __init__(
        self,
        problem: str | None = None,
        *,
        queries: Mapping[str, tuple[str, ...]] | None = None,
        **parts: Any,  # noqa: ANN401 - those of its base
    ) -> None:
        super().__init__(problem, **parts)
        self.queries = dict(queries or {})


class FigureError(DataError):
    """A figure cannot show these data: the message says why, and what would."""


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
        """Return the message, with the name of the measure in front."""
        text = super().told(words, has_place=has_place)
        return text if self.measure is None else f"{self.measure}: {text}"


class UnknownMeasureError(MeasureError, KeyError):
    """No measure has this name, or an evaluation does not contain it."""


class SourceTypeError(DeadheatError, TypeError):
    """An object is of a type that deadheat cannot read."""


class MissingDependencyError(DeadheatError, ImportError):  # type: ignore[misc]  # its path is a file here too
    """An optional package is needed but not installed."""


class DeadheatWarning(UserWarning):
    """The data can be evaluated, but the result is probably not what was meant."""


class NothingJudgedWarning(DeadheatWarning):
    """No retrieved document is judged: usually the ids of run and qrels are written differently."""


class UnlabelledQueriesWarning(DeadheatWarning):
    """Queries without a value in a strata column form a stratum of their own."""


class NoteWarning(DeadheatWarning):
    """A warning that a benchmark repeats in the notes of its report."""


class UnknownExpectedWarning(NoteWarning):
    """Expected ids are not terms of the ontology that judges them."""
