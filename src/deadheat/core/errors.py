"""Every exception and warning of deadheat.

The errors are one tree, whose branches are also built-in types that callers catch. An error has as fields what was
wrong, what was given and what is allowed, and makes its sentence of them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from deadheat.core.wording import LONGEST_GIVEN, cut_long_words, did_you_mean, escape_invisible, format_given

ABSENT: Any = object()  # stands for "not given" where None may be a value that was given
STDIN = "/dev/stdin"
STREAM = r"/dev/stdin|/dev/fd/\d+|/proc/(self|\d+)/fd/\d+"  # names that a shell makes up for a pipe
# The argument of commands with the format of a file, by what the file holds; others have none.
FORMAT_ARGUMENTS = {"": "from", "qrels": "from", "run": "from", "qrels and runs": "from", "cases": "input_format"}


class Advice(NamedTuple):
    """Advice to pass an argument, or to name a file so that the argument is not needed.

    Attributes
    ----------
    argument : str
    value : object, optional
        Such as ``"csv"`` for a format; None names the argument alone.
    endings : str, default ""
        File name endings that say the same, such as ``".json or .jsonl"``.
    of : str, default ""
        What the file holds, where a command has options for some of its files: ``"run"``, ``"qrels and runs"`` for
        advice on both, ``"cases"``, ``"documents"``.
    when : str, default ""
        Text in front of the advice: a condition, or what the file looks like.
    """

    argument: str
    value: object = None
    endings: str = ""
    of: str = ""
    when: str = ""


Options: TypeAlias = Mapping[str, str] | None  # the options of a command, by argument; None for a Python caller


def _name_argument(options: Options, name: str, value: object = None) -> str:
    """Name an argument or its option, with its value if it has one; an argument without an option keeps its name."""
    if options is None or name not in options:
        return name if value is None else f"{name}={format_given(value)}"
    if value is None:
        return options[name]
    return f"{options[name]} {_format_for_shell(value)}"


def _format_for_shell(value: object) -> str:
    """Return a value as it is typed behind an option: columns as ``KEY=NAME,KEY=NAME``."""
    if not isinstance(value, Mapping):
        return str(value)
    pairs = []
    for key, name in value.items():
        quoted = repr(name) if " " in name else name
        pairs.append(f"{key}={quoted}")
    return ",".join(pairs)


def _describe_advice(options: Options, advice: Advice, path: Path | None) -> str:
    """Say what to do, about the file at `path` if there is one; return "" if a command has no option for it."""
    if options is None:
        argument = _name_argument(None, advice.argument, advice.value)
        if advice.endings:
            return f"{advice.when}name the file {advice.endings}, or pass {argument}"
        return f"{advice.when}give {argument}"
    steps = []
    if advice.endings:
        is_stream = re.fullmatch(STREAM, str(path)) is not None  # which has no name to change
        step = "save it in a file that ends in" if is_stream else "name the file"
        steps.append(f"{step} {advice.endings}")
    name = advice.argument
    value = _add_prefix(advice.value, advice.of)
    if name == "format" and "file_formats" in options and advice.of in {"qrels", "run", "qrels and runs"}:
        name = "file_formats"
        if advice.of != "qrels and runs":
            value = f"{advice.of}={value}"
    elif name == "format":
        name = FORMAT_ARGUMENTS.get(advice.of, "")
    if name in options:
        steps.append(f"give {_name_argument(options, name, value)}")
    if not steps:
        return ""
    return advice.when + ", or ".join(steps)


def _add_prefix(value: object, kind: str) -> object:
    """Return columns with the kind of their file in front of each key, as the other file may have other names."""
    if not kind or not isinstance(value, Mapping):
        return value
    return {f"{kind}.{key}": name for key, name in value.items()}


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
    found : object, optional
        What was given or found, in words where its repr says little: shown as it is, in place of `given`.
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
    measure : str, optional
        The measure whose parameter or values it is about: its name comes first.
    """

    longest_given = LONGEST_GIVEN

    def __init__(
        self,
        problem: str | None = None,
        *,
        argument: str | None = None,
        given: object = ABSENT,
        found: object = None,
        allowed: str | Collection[str] | None = None,
        beside: Mapping[str, object] | None = None,
        hint: str | Advice | None = None,
        python: str | None = None,
        path: str | Path | None = None,
        line: int | None = None,
        measure: str | None = None,
    ) -> None:
        super().__init__(problem)  # `copy` and `pickle` call it with this alone; the other parts are in its dict
        self.problem = problem
        self.argument = argument
        self.is_given = given is not ABSENT or found is not None
        self.given = None if given is ABSENT else given
        self.found = found
        self.allowed = allowed
        self.beside = beside
        self.hint = hint or None
        self.python = python
        self.path = None if path is None else Path(path)
        self.line = line
        self.measure = measure

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, options: Options = None, *, has_place: bool = True) -> str:
        """Return the message, worded for Python or with the options of a command, with or without path and line."""
        text = self._describe_problem(options)
        if self.beside:
            arguments = [_name_argument(options, name, value) for name, value in self.beside.items()]
            text += f" with {', '.join(arguments)}"
        if self.is_given:
            text += f", got {self._describe_given(options)}"
        hint = self._describe_hint(options)
        if hint[:1].isupper():
            text = f"{text.removesuffix('.')}. {hint}"
        elif hint:
            mark = ";" if self.is_given else ":"
            text += f"{mark} {hint}"
        if self.python and options is None:
            text += f"; {self.python}"
        sentence = self._describe_place(has_path=has_place) + text
        lines = [cut_long_words(line) for line in sentence.split("\n")]
        return "\n".join(lines)

    def _choices(self) -> tuple[str, ...]:
        """Return the words that are allowed; none if a text says what is."""
        if self.allowed is None or isinstance(self.allowed, str):
            return ()
        return tuple(self.allowed)

    def _describe_place(self, *, has_path: bool) -> str:
        """Return the beginning of the message: path, line and measure, as far as they are known."""
        place = ""
        if self.path is not None and has_path:
            place = f"{escape_invisible(str(self.path))}:"
            if self.line is not None:
                place += f"{self.line}:"
            place += " "
        if self.measure:
            place += f"{self.measure}: "
        return place

    def _describe_problem(self, options: Options) -> str:
        """Say what is wrong and what is allowed."""
        choices = self._choices()
        if choices:
            allowed = f"one of {', '.join(map(repr, choices))}"
        else:
            allowed = str(self.allowed or "")
        if self.argument:
            problem = self.problem or f"must be {allowed}"
            return f"{_name_argument(options, self.argument)} {problem}"
        parts = []
        if self.problem:
            parts.append(self.problem)
        if allowed:
            parts.append(f"expected {allowed}")
        return ", ".join(parts)

    def _describe_given(self, options: Options) -> str:
        """Return what was given; several values of an option are shown as they are typed."""
        if options is not None and isinstance(self.given, list | tuple):
            return ", ".join(map(format_given, self.given))
        if self.found is not None:
            return str(self.found)
        return format_given(self.given, self.longest_given)

    def _describe_hint(self, options: Options) -> str:
        """Say what to do; without a hint, the nearest of several choices is one."""
        hint = self.hint or ""
        if isinstance(hint, Advice):
            hint = _describe_advice(options, hint, self.path)
        choices = self._choices()
        if not hint and len(choices) > 1:
            hint = did_you_mean(self.found or self.given, choices)
        return hint


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
    """Labelled cases cannot be used; the message says what is wrong with each case, and where it is.

    Attributes
    ----------
    findings : tuple of Finding
        What is wrong, one by one.
    """

    def __init__(self, problem: str | None = None, *, findings: Iterable[Any] = (), **parts: Any) -> None:  # noqa: ANN401 - those of its base
        super().__init__(problem, **parts)
        self.findings = tuple(findings)


class NotKeptError(DataError):
    """A saved evaluation keeps too little of its ranking to score it again.

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


class UserCodeError(DataError):
    """Code that the user named, such as a reranker, raised an error, which is the `__cause__` of this one."""


class FigureError(DataError):
    """A figure cannot show these data: the message says why, and what would."""


class ParameterError(DeadheatError, ValueError):
    """An argument has a value that is not allowed."""


class MeasureError(ParameterError):
    """A measure's notation cannot be read, or one of its parameters is wrong."""


class UnknownMeasureError(MeasureError, KeyError):
    """No measure has this name, or an evaluation does not contain it."""


class SourceTypeError(DeadheatError, TypeError):
    """An object is of a type that deadheat cannot read."""


class MissingDependencyError(DeadheatError, ImportError):  # type: ignore[misc]  # its path is a file here too
    """An optional package is needed but not installed."""


class MissingPluginError(DeadheatError, ImportError):  # type: ignore[misc]  # as above
    """A plugin of deadheat is needed that is not there, or that cannot be loaded."""


class DeadheatWarning(UserWarning):
    """The data can be evaluated, but the result is probably not what was meant.

    Parameters
    ----------
    text : str
        With the names of `fields` in braces, if there are any.
    where : str, default ""
        The file or run that it is about, which the message begins with.
    **fields : object
        What differs from file to file in the same warning.

    Attributes
    ----------
    text, where : str
        As given.
    """

    def __init__(self, text: str, where: str = "", **fields: object) -> None:
        self.text = text
        self.where = where
        message = text.format(**fields) if fields else text
        if where:
            message = f"{where}: {message}"
        super().__init__(cut_long_words(message))


class NothingJudgedWarning(DeadheatWarning):
    """No retrieved document is judged: usually the ids of run and qrels are written differently."""


class UnlabelledQueriesWarning(DeadheatWarning):
    """Queries without a value in a strata column form a stratum of their own."""


class NoteWarning(DeadheatWarning):
    """A warning that a benchmark repeats in the notes of its report."""


class UnknownExpectedWarning(NoteWarning):
    """Expected ids are not terms of the ontology that judges them."""


class DurationWarning(DeadheatWarning):
    """Something will take longer than ten seconds: said before the time is spent."""


LONG = 10.0  # seconds that are announced


def warn_of_time(what: str, seconds: float, then: str) -> bool:
    """Warn of what takes more than ten seconds, before the time is spent, and return whether it does.

    The time is estimated by a formula; where there is none, :func:`deadheat.core.phases.lasting` times the first steps.

    Parameters
    ----------
    what : str
    seconds : float
    then : str
        The end of the sentence.
    """
    is_long = seconds > LONG
    if is_long:
        warnings.warn(f"{what} takes about {seconds:.0f} s{then}", DurationWarning, stacklevel=3)
    return is_long
