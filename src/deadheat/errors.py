"""Every exception of deadheat: one tree, each branch also a built-in type that callers already catch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


COMMAND = re.compile(r"(^\s*|#(?=#\[))([:#])(?=:[a-z-]+(?: [^:]*)?::|\[)")  # of GitHub, in the log of a build
LONGEST_GIVEN = 200  # characters of a value that a message shows


class DeadheatError(Exception):
    """Base of everything that deadheat raises on purpose."""


class DataError(DeadheatError, ValueError):
    """The input data cannot be evaluated as it is.

    Parameters
    ----------
    message : str
        What is wrong, what was given, what is allowed.
    path : path-like, optional
        The file that holds the offending data.
    line : int, optional
        Its 1-based line.

    Attributes
    ----------
    path : pathlib.Path or None
    line : int or None
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.line = line
        file = printable(str(path))
        place = "" if path is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)


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

    def __init__(self, message: str, *, path: str | Path | None = None, findings: Iterable[Any] = ()) -> None:
        super().__init__(message, path=path)
        self.findings = tuple(findings)


class ParameterError(DeadheatError, ValueError):
    """An argument has a value that is not allowed."""


class MeasureError(ParameterError):
    """A measure's notation cannot be read, or one of its parameters is wrong."""


class UnknownMeasureError(MeasureError, KeyError):
    """No measure has this name, or an evaluation does not hold it."""

    __str__ = Exception.__str__  # KeyError would show the message quoted


class GateError(ParameterError):
    """A gate cannot be read, or there is none."""


class SourceTypeError(DeadheatError, TypeError):
    """An object is of a type that deadheat cannot read."""


class MissingDependencyError(DeadheatError, ImportError):
    """An optional package is needed and not installed."""


class ForkError(DeadheatError, RuntimeError):
    """A forked process cannot read files or frames, because Polars had computed before the fork."""


class DeadheatWarning(UserWarning):
    """The data can be evaluated, but the result is probably not what was wanted."""


def as_given(value: object) -> str:
    """Return the repr of what a user gave, cut where it is too long for a message.

    Examples
    --------
    >>> as_given("float23"), as_given(10**5000)
    ("'float23'", 'a number of thousands of digits')
    """
    try:
        text = repr(value)
    except ValueError:  # which Python raises rather than write so many
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_GIVEN else f"{text[:LONGEST_GIVEN]}..."


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


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest of `known`, or an empty string."""
    import difflib  # only a mistake needs it

    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(given.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def check_choice(name: str, given: object, allowed: Collection[str]) -> None:
    """Raise `ParameterError` if a parameter has not one of the words that it takes."""
    if given not in allowed:
        words = ", ".join(map(repr, allowed))
        msg = f"{name} must be one of {words}, got {given!r}.{did_you_mean(str(given), allowed)}"
        raise ParameterError(msg)
