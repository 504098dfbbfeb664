"""What is wrong with cases, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deadheat.errors import DataError

Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file of cases.

    Attributes
    ----------
    level : {"error", "warning"}
        An error makes its case unusable, or the file; `deadheat.read_cases` refuses it.
    place : str
        The file, and the line if it is about one: ``cases.json:12``.
    case_id : str
        The case; empty if it is about the file, or about several cases.
    message : str
        What is wrong, and what was given.
    advice : str
        What to do about it.
    kind : str
        A word for programs, such as ``"malformed_id"``.
    line : int or None
    """

    level: Level
    place: str
    case_id: str
    message: str
    advice: str
    kind: str
    line: int | None = None

    def __str__(self) -> str:
        case = f"case {self.case_id!r}: " if self.case_id else ""
        return f"{self.place}: {case}{self.text}"

    @property
    def text(self) -> str:
        """Message and advice as sentences."""
        return " ".join(_sentence(part) for part in (self.message, self.advice) if part)


@dataclass(frozen=True)
class Validation:
    """What `validate` found in a file of cases.

    Attributes
    ----------
    path : pathlib.Path
    name : str
    n_cases : int
        All cases of the file, including unusable ones.
    findings : tuple of Finding
        Errors first.
    cause : DataError or None
        The error behind the only finding, if the file cannot be read.
    """

    path: Path
    name: str
    n_cases: int
    findings: tuple[Finding, ...]
    cause: DataError | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make a case, or the file, unusable."""
        return tuple(one for one in self.findings if one.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(one for one in self.findings if one.level == "warning")

    @property
    def is_usable(self) -> bool:
        """Whether `deadheat.read_cases` reads the file."""
        return not self.errors


def found_at(
    path: str | Path,
    line: int | None,
    kind: str,
    message: str,
    advice: str = "",
    *,
    case_id: str = "",
    level: Level = "warning",
) -> Finding:
    """Return a finding about a file, or about a line of it."""
    place = str(path) if line is None else f"{path}:{line}"
    return Finding(level, place, case_id, message, advice, kind, line)


def listed_lines(lines: Sequence[int | None], limit: int = 5) -> str:
    """Return the lines of several cases, for a message.

    Examples
    --------
    >>> listed_lines([3]), listed_lines([3, 9]), listed_lines(range(1, 9))
    ('line 3', 'lines 3, 9', 'lines 1, 2, 3, 4, 5 and 3 more')
    """
    known = [str(line) for line in lines if line is not None]
    shown = ", ".join(known[:limit]) + (f" and {len(known) - limit} more" if len(known) > limit else "")
    return f"line{'s' if len(known) > 1 else ''} {shown}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."
