"""Reports for a terminal or a pipe; Rich is loaded for the first of them, and for no other format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import Report

if TYPE_CHECKING:
    from rich.text import Text


def _draw(report: Report, *, width: int | None, digits: int | None) -> Text:
    from deadheat.core.report.text import as_text

    return as_text(report, width=width, digits=digits)


register(
    ReportFormat(
        name="table",
        suffixes=("", ".txt", ".log", ".out"),
        write=lambda report, digits: _draw(report, width=None, digits=digits).plain,
        draw=_draw,
        place=0,
    )
)
