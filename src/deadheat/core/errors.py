"""Every exception and warning of deadheat.

The errors are one tree, whose branches are also built-in types that callers catch. An error has as fields what was
wrong, what was given and what is allowed, and makes its sentence of them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from deadheat.core.wording import LONGEST_GIVEN, cut_long_words, did_you_mean, escape_invisible, format_given

if TYPE_CHECKING:
    pass


ABSENT: Any = object()  # "not given", where None may be the value that was given
STDIN = "/dev/stdin"
STREAM = r"/dev/stdin|/dev/fd/\d+|/proc/(self|\d+)/fd/\d+"  # what a shell makes up for a pipe
FORMATS = {"cases": "input_format", "documents": ""}  # the option with the format of what a file holds; else --from


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
        What the file holds, where a command has one option for each: ``"cases"``, ``"documents"``.
    when : str, default ""
        Text in front: a condition, or what the file looks like.
    """

    argument: str
    value: object = None
    endings: str = ""
    of: str = ""
    when: str = ""


Options: TypeAlias = Mapping[str, str] | None  # of a command, by the arguments that they are; None for a Python caller


def _named(options: Options, name: str, value: object = None) -> str:
    """Name an argument or its option, with its value if it has one; one without an option keeps its Python name."""
    if options is None or name not in options:
        return name if value is None else f"{name}={format_given(value)}"
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={repr(one) if ' ' in one else one}" for key, one in value.items())  # for a shell
    return options[name] if value is None else f"{options[name]} {value}"


def _advised(options: Options, advice: Advice, path: Path | None) -> str:
    """Say what to do, about the file at `path` if there is one."""
    name, value = advice.argument, advice.value
    if options is None:
        named = _named(options, name, value)
        return advice.when + (f"name the file {advice.endings}, or pass {named}" if advice.endings else f"give {named}")
    if name == "format":
        name = FORMATS.get(advice.of, "from")
    if isinstance(value, Mapping):  # columns, of one kind of files: the other may have other names
        prefix = f"{advice.of}." if advice.of else ""
        value = {prefix + key: column for key, column in value.items()}
    steps = [f"give {_named(options, name, value)}"] if name in options else []
    if advice.endings:  # a stream has no name to change
        is_stream = re.fullmatch(STREAM, str(path))
        steps.insert(0, f"{'save it in a file that ends in' if is_stream else 'name the file'} {advice.endings}")
    return f"{advice.when}{', or '.join(steps)}" if steps else ""


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
        place = f"{self.measure}: " if self.measure else ""
        if self.path is not None and has_place:
            line = "" if self.line is None else f"{self.line}:"
            place = f"{escape_invisible(str(self.path))}:{line} {place}"
        choices = () if isinstance(self.allowed, str | None) else tuple(self.allowed)
        allowed = f"one of {', '.join(map(repr, choices))}" if choices else str(self.allowed or "")
        if self.argument:
            text = f"{_named(options, self.argument)} {self.problem or f'must be {allowed}'}"
        else:
            text = ", ".join(filter(None, [self.problem, allowed and f"expected {allowed}"]))
        if self.beside:
            text += f" with {', '.join(_named(options, *one) for one in self.beside.items())}"
        if self.is_given:  # several values of an option are shown as they are typed
            given = format_given(self.given, self.longest_given) if self.found is None else str(self.found)
            if options is not None and isinstance(self.given, list | tuple):
                given = ", ".join(map(format_given, self.given))
            text += f", got {given}"
        hint = _advised(options, self.hint, self.path) if isinstance(self.hint, Advice) else self.hint
        hint = hint or (did_you_mean(self.found or self.given, choices) if len(choices) > 1 else "")
        if hint and hint[0].isupper():
            text = f"{text.removesuffix('.')}. {hint}"
        elif hint:
            text += f"{';' if self.is_given else ':'} {hint}"
        sentence = place + text + (f"; {self.python}" if self.python and options is None else "")
        return "\n".join(map(cut_long_words, sentence.split("\n")))


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

    def __init__(self, problem: str | None = None, *, findings: Iterable[Any] = (), **parts: Any) -> None:  # noqa: ANN401 - those of its base
        super().__init__(problem, **parts)
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
        self.text, self.where = text, where
        super().__init__(cut_long_words((f"{where}: " if where else "") + (text.format(**fields) if fields else text)))


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

    It is for what can be estimated by a formula; :func:`deadheat.core.phases.lasting` looks at the first steps.

    Parameters
    ----------
    what : str
    seconds : float
    then : str
        The end of the sentence.
    """
    if seconds > LONG:
        warnings.warn(f"{what} takes about {seconds:.0f} s{then}", DurationWarning, stacklevel=3)
    return seconds > LONG
