"""The formats of reports, by their names."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from deadheat.core import hooks, third_party
from deadheat.core.errors import ParameterError

if TYPE_CHECKING:
    from rich.text import Text


_registered: list[ReportFormat] = []


@dataclass(frozen=True, kw_only=True)
class ReportFormat:
    """A format of reports.

    Attributes
    ----------
    name : str
        What ``--format`` takes.
    suffixes : tuple of str
        How the names of such files end.
    write : callable
        Takes a report and, as `digits`, the decimals of its numbers (None: the usual ones), and returns the text.
    needs : str
        What a report must have, as a command says of its own: "document" (it is read as a whole), "rows" (its first
        table has a number in each cell), "scores" (its tables are of scores or their differences), "runs" (they are
        those of evaluated runs), "gates" (it is of a `GateResult`), "lines" (its first table is a row a
        line); empty: any report can be printed so.
    is_data : bool
        Whether it has no place for notes and warnings, which then go to standard error.
    draw : callable or None
        Takes a report, and the `width` of a screen too, and returns styled text.
    place : int
        Its position in the list of choices.
    """

    name: str
    suffixes: tuple[str, ...]
    write: Callable[..., str]
    needs: str = ""
    is_data: bool = False
    draw: Callable[..., Text] | None = None
    place: int = 1000  # after all others


def register(form: ReportFormat) -> None:
    """Make a format known by its name, which no other has."""
    for known in _registered:
        if known.name == form.name and known.write.__module__ != form.write.__module__:
            raise ParameterError(
                "its name is taken by another format of reports",
                argument="name",
                given=form.name,
                allowed="another name",
            )
    _registered.append(form)


def load_third_party_formats() -> bool:
    """Import the formats of reports that plugins of others have; tell whether there are new ones."""
    if not third_party.load("formats"):
        return False
    report_formats.cache_clear()
    return True


@cache
def report_formats() -> dict[str, ReportFormat]:
    """Return every format by its name."""
    hooks.load("formats")
    return {form.name: form for form in sorted(_registered, key=lambda form: form.place)}


def formats_of(parts: Collection[str]) -> dict[str, ReportFormat]:
    """Return the formats for reports that have some of what formats need."""
    return {name: form for name, form in report_formats().items() if not form.needs or form.needs in parts}
