"""Reports as HTML without scripts: a document of its own, or a piece for a notebook or another page."""

from __future__ import annotations

import html
import math
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from deadheat.core.report.cells import Bar, Cell, NumberCell, format_cell
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import MOST_SIDE_BY_SIDE, Report, Table
from deadheat.core.wording import format_for_people

if TYPE_CHECKING:
    from jinja2 import Environment

WIDTH, HEIGHT, EDGE = 120, 14, 5  # of a drawing, in pixels; what is left free at its ends


@cache
def templates() -> Environment:
    """Return the templates, in which every expression is escaped but for `Markup`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # no other format needs it
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("deadheat.core.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda one: Markup(escaped(one)) if isinstance(one, str) and not hasattr(one, "__html__") else one,  # noqa: S704 - escaped
    )
    made.filters |= {
        "rows": lambda *given: Markup(_rows(*given)),  # noqa: S704 - escaped
        "laid_out": _laid_out,
        "places_of_words": lambda table: [n for n, is_words in enumerate(table.are_words) if is_words],
        "places_of_names": lambda table: [
            n for n in range(len(table.labels)) if not all(row.labels[n].isdigit() for row in table.rows)
        ],
    }
    return made


def parts() -> Any:  # noqa: ANN401 - functions by name
    """Return the macros of reports: `table`, `facts`, `body`, `piece`, `document`, `whole`."""
    return templates().get_template("report.html").module


def as_html(report: Report, *, digits: int | None = None) -> str:
    """Return a report as an HTML document, which needs no other file, no network and no script."""
    first, title = next(iter(report.tables), None), report.heading or "deadheat"
    if first is not None and not report.heading:
        title += f": {first.key.replace('_', ' ')}" + (f" of {', '.join(first.groups)}" if first.is_grouped else "")
    return str(parts().whole(title, report, digits))


def fragment(report: Report, *, digits: int | None = None) -> str:
    """Return a report as a piece of HTML for a notebook or a page; it brings its style."""
    return str(parts().piece(report, digits))


def _rows(table: Table, texts: Collection[int], digits: int | None) -> str:
    """Return the rows of a table, of which there may be thousands: a template would take several times as long."""
    made: list[str] = []
    above: tuple[str, ...] = ()
    for row in table.rows:
        if table.has_blocks and len(row.labels) > 1 and above and above[0] != row.labels[0]:
            made.append("</tbody>\n<tbody>")
            above = ()
        repeated = [n < len(above) - 1 and row.labels[: n + 1] == above[: n + 1] for n in range(len(row.labels))]
        cells = (_cell(cell, digits, is_text=n in texts) for group in row.cells for n, cell in enumerate(group))
        made.append(f"<tr>{''.join(map(_label, row.labels, repeated))}{''.join(cells)}</tr>")
        above = row.labels
    return "\n".join(made)


def _label(text: str, is_again: bool) -> str:  # noqa: FBT001 - by map
    classes = " ".join(["n"] * text.isdigit() + ["again"] * is_again)
    attribute = f' class="{classes}"' if classes else ""
    return f'<th scope="row"{attribute}>{escaped(text)}</th>'


def _cell(cell: Cell, digits: int | None, *, is_text: bool) -> str:
    if isinstance(cell, Bar):
        return f"<td>{as_svg(cell)}</td>"
    marks = cell.marks if isinstance(cell, NumberCell) else ""
    if isinstance(cell, NumberCell) and cell.kind == "ranked":
        number = escaped(format_cell(cell.value, digits))
        room = f'<span class="marks" style="width:{cell.room}ch">{escaped(marks)}</span>' if cell.room else ""
        return f'<td class="n">{f"<strong>{number}</strong>" if cell.is_best else number}{room}</td>'
    text = escaped(format_cell(replace(cell, marks="") if isinstance(cell, NumberCell) else cell, digits))
    if is_text:
        return f"<td>{text}</td>"
    mark = f'<span class="mark">{escaped(marks)}</span>' if marks else ""  # no room: decimals stay below each other
    return f'<td class="n">{text}{mark}</td>'


def escaped(text: str) -> str:
    r"""Return a text that HTML shows as it is, in attributes too; what controls a terminal or a reader is an escape.

    Examples
    --------
    >>> print(escaped("<b>&'\"\x1b"))
    &lt;b&gt;&amp;&#x27;&quot;\x1b
    """
    text = harmless(html.escape(format_for_people(text)))
    return f"&#58;{text[1:]}" if text.startswith("::") else text


def harmless(text: str) -> str:
    """Return HTML in which a build log finds no command that it obeys anywhere in a line."""
    return text.replace("##[", "#&#35;[")


def _laid_out(table: Table) -> Table:
    """Return a table as people read it; more than two groups become rows."""
    table = table.for_people(drawn=True)
    return table.with_groups_as_rows() if len(table.groups) > MOST_SIDE_BY_SIDE else table


def as_svg(bar: Bar) -> str:
    """Return a bar as SVG; the numbers are in the cells beside it, so that a screen reader leaves it out."""

    def place(number: float) -> str:
        return f"{EDGE + bar.place(number) * (WIDTH - 2 * EDGE):.1f}"

    low, middle, high, y = place(bar.low), place(bar.middle), place(bar.high), HEIGHT / 2
    has_ends = math.isfinite(bar.low) and math.isfinite(bar.high)
    zero = f'<path d="M{place(0.0)} 0V{HEIGHT}" stroke-dasharray="2"/>' if bar.start < 0 < bar.end else ""
    line = f'<path d="M{low} {y:g}H{high}M{low} {y - 4:g}V{y + 4:g}M{high} {y - 4:g}V{y + 4:g}"/>' if has_ends else ""
    dot = f'<circle cx="{middle}" cy="{y:g}" r="3" fill="currentColor"/>' if math.isfinite(bar.middle) else ""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {size} fill="none" stroke="currentColor" aria-hidden="true">{zero}{line}{dot}</svg>'


register(ReportFormat(name="html", suffixes=(".html", ".htm"), write=as_html, place=55))
