"""Reports as HTML without scripts: a document of its own, or a piece for a notebook or another page."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import MOST_SIDE_BY_SIDE, Bar, Cell, Column, Fact, Marked, Ranked, Report, Row, Table
from deadheat.report.numbers import format_cell
from deadheat.wording import printable

# A piece takes text colour and background from the page around it, which may be a notebook with a theme of its own.
# The one colour, of warnings and drawings, has a contrast of 3 to 1 and more with white and with black.
STYLE = """
.deadheat{font:14px/1.45 system-ui,sans-serif;max-width:100%;overflow-wrap:anywhere}
.deadheat .scroll{overflow-x:auto;margin:0 0 1em}
.deadheat table{border-collapse:collapse;font-size:1em;margin:0;font-variant-numeric:tabular-nums}
.deadheat caption{caption-side:top;text-align:left;font-weight:600;padding:.2em .7em .4em;color:inherit}
.deadheat th,.deadheat td{padding:.2em .7em;border:0;text-align:left;vertical-align:baseline;color:inherit;\
background:none;font-weight:400;max-width:34em;overflow-wrap:break-word;unicode-bidi:isolate}
.deadheat thead th{font-weight:600;vertical-align:bottom;white-space:nowrap}
.deadheat thead tr:last-child>*{border-bottom:1px solid currentColor}
.deadheat thead th[colspan]{text-align:center;border-bottom:1px solid #88888888}
.deadheat tbody+tbody>tr:first-child>*{border-top:1px solid #88888888}
.deadheat .n{text-align:right;white-space:nowrap}
.deadheat .main{font-weight:600}
.deadheat .again{opacity:.65}
.deadheat .mark{display:inline-block;width:0}
.deadheat .marks{display:inline-block;text-align:left;font-size:.75em;vertical-align:.4em}
.deadheat .opening{font-weight:600;max-width:60em;margin:0 0 1em}
.deadheat svg{vertical-align:middle;color:#c8551b}
.deadheat dl{display:grid;grid-template-columns:fit-content(11em) minmax(0,1fr);gap:.15em 1em;margin:0 0 1em}
.deadheat dt{opacity:.75;grid-column:1;font-weight:400;margin:0}
.deadheat dd{grid-column:2;margin:0}
.deadheat dd.warning{font-weight:600;border-left:4px solid #c8551b;padding-left:.6em}
.deadheat pre{white-space:pre-wrap;margin:0 0 1em}
@media(max-width:30em){.deadheat dl{display:block}.deadheat dd{margin:0 0 .4em}}
""".strip()
PAGE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24}
@media(prefers-color-scheme:dark){:root{--paper:#16191d;--ink:#e7e9ec}}
@media print{:root{--paper:#fff;--ink:#000}}
body{background:var(--paper);color:var(--ink);margin:1.5em auto;max-width:75em;padding:0 1em}
h1{font:600 1.25rem/1.35 system-ui,sans-serif;overflow-wrap:anywhere}
""".strip()
WIDTH, HEIGHT, EDGE = 120, 14, 5  # of a drawing, in pixels; what is left free at its ends


def as_html(report: Report, *, digits: int | None = None) -> str:
    """Return a report as an HTML document, which needs no other file, no network and no script."""
    title = report.heading or _title(report)
    return page(title, f"<main>\n<h1>{escaped(title)}</h1>\n{body(report, digits=digits)}\n</main>")


def _title(report: Report) -> str:
    """Return what a report without a heading is called."""
    first = next(iter(report.tables), None)
    if first is None:
        return "deadheat"
    return f"deadheat: {_key(first)}" + (f" of {', '.join(first.groups)}" if first.is_grouped else "")


def _key(table: Table) -> str:
    return table.key.replace("_", " ")


def page(title: str, content: str, style: str = "") -> str:
    """Return an HTML document around content that is HTML already.

    Parameters
    ----------
    title : str
        Plain text.
    content : str
    style : str, default ""
        More rules, behind those of all pages.
    """
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escaped(title)}</title>",
            f"<style>\n{PAGE}\n{STYLE}\n{style}</style></head>",
            f'<body class="deadheat">\n{content}\n</body>',
            "</html>",
        ]
    )


def fragment(report: Report, *, digits: int | None = None) -> str:
    """Return a report as a piece of HTML for a notebook or a page; it brings its style."""
    head = f"<p><strong>{escaped(report.heading)}</strong></p>\n" if report.heading else ""
    return f'<div class="deadheat"><style>\n{STYLE}</style>\n{head}{body(report, digits=digits)}</div>'


def body(report: Report, *, digits: int | None = None) -> str:
    """Return the tables, facts and closing of a report, without its heading."""
    tables = [html_table(table, digits=digits) for table in report.tables]
    facts = [html_facts(report.shown)] if report.shown else []
    closing = [_closing(report.closing)] if report.closing else []
    opening = [f'<p class="opening">{escaped(report.opening)}</p>'] if report.opening else []
    return "\n".join(opening + (facts + tables if report.facts_first else tables + facts) + closing)


def escaped(text: str) -> str:
    r"""Return a text that HTML shows as it is, in attributes too; what controls a terminal or a reader is an escape.

    Examples
    --------
    >>> print(escaped("<b>&'\"\x1b"))
    &lt;b&gt;&amp;&#x27;&quot;\x1b
    """
    return html.escape(printable(text)).replace("##[", "#&#35;[")  # which a build log would obey


def html_table(table: Table, *, digits: int | None = None) -> str:
    """Return a table as HTML that scrolls where it is too wide; more than two groups become rows.

    Parameters
    ----------
    table : Table
    digits : int, optional
        Decimals, by default 4.
    """
    table = table.for_people(drawn=True)
    if len(table.groups) > MOST_SIDE_BY_SIDE:
        table = table.with_groups_as_rows()
    name = escaped(table.title or _key(table))
    caption = [f"<caption>{escaped(table.title)}</caption>"] if table.title else []
    bodies = (["<tbody>", *rows, "</tbody>"] for rows in _bodies(table, digits))
    lines = ["<table>", *caption, "<thead>", *_head(table), "</thead>", *(line for one in bodies for line in one)]
    # a scrolled part needs a name, and the focus for those who scroll by keyboard
    below = [f"<p>{escaped(table.caption)}</p>"] if table.caption else []
    opening = f'<div class="scroll" role="group" aria-label="{name}" tabindex="0">'
    return "\n".join([opening, *lines, "</table></div>", *below])


def _head(table: Table) -> Iterator[str]:
    if table.is_grouped:
        blank = f'<td colspan="{len(table.labels)}"></td>' if table.labels else ""
        spans = (f'<th scope="colgroup" colspan="{len(table.columns)}">{escaped(name)}</th>' for name in table.groups)
        yield f"<tr>{blank}{''.join(spans)}</tr>"
    labels = "".join(
        _heading(column, is_text=not all(row.labels[place].isdigit() for row in table.rows))
        for place, column in enumerate(table.labels)
    )
    group = "".join(_heading(column, is_text=table.holds_words(place)) for place, column in enumerate(table.columns))
    yield f"<tr>{labels}{group * len(table.groups)}</tr>"


def _heading(column: Column, *, is_text: bool) -> str:
    if not column.heading:  # of drawings: a heading without text is none
        return "<td></td>"
    return f'<th scope="col"{_class("" if is_text else "n")}>{escaped(column.heading)}</th>'


def _bodies(table: Table, digits: int | None) -> Iterator[list[str]]:
    """Give the rows of each block: those that share the first of several labels."""
    is_text = [table.holds_words(place) for place in range(len(table.columns))]
    above: Row | None = None
    block: list[str] = []
    for row in table.rows:
        starts = table.has_blocks and len(table.labels) > 1 and above is not None and row.labels[0] != above.labels[0]
        if starts:
            yield block
            block, above = [], None
        block.append(_row(row, above, table, is_text, digits))
        above = row
    yield block


def _row(row: Row, above: Row | None, table: Table, is_text: Sequence[bool], digits: int | None) -> str:
    cells = "".join(
        _cell(cell, digits, is_text=is_text[place], is_main=place == table.main)
        for group in row.cells
        for place, cell in enumerate(group)
    )
    return f"<tr>{''.join(_labels(row, above))}{cells}</tr>"


def _labels(row: Row, above: Row | None) -> Iterator[str]:
    """Give the labels as headings of the row; one that the row above has too is dimmed, but for the last."""
    for place, text in enumerate(row.labels):
        is_last = place == len(row.labels) - 1
        is_again = above is not None and not is_last and row.labels[: place + 1] == above.labels[: place + 1]
        names = " ".join(name for name, holds in (("n", text.isdigit()), ("again", is_again)) if holds)
        yield f'<th scope="row"{_class(names)}>{escaped(text)}</th>'


def _cell(cell: Cell, digits: int | None, *, is_text: bool, is_main: bool) -> str:
    if isinstance(cell, Bar):
        return f"<td>{draw(cell)}</td>"
    if isinstance(cell, Ranked):
        return _ranked(cell, digits)
    text = format_cell(cell, digits)
    if is_text:
        return f"<td>{escaped(text)}</td>"
    marks = cell.marks if isinstance(cell, Marked) else ""
    number = text.removesuffix(marks)
    # marks take no room, so that decimals stay below each other
    mark = f'<span class="mark">{marks}</span>' if marks else ""
    return f"<td{_class('n main' if is_main else 'n')}>{escaped(number)}{mark}</td>"


def _ranked(cell: Ranked, digits: int | None) -> str:
    """Return a number, bold if it is the best, with room for the marks of the column behind it."""
    number = escaped(format_cell(float(cell), digits))
    shown = f"<strong>{number}</strong>" if cell.is_best else number
    room = f'<span class="marks" style="width:{cell.room}ch">{escaped(cell.marks)}</span>' if cell.room else ""
    return f'<td class="n">{shown}{room}</td>'


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def draw(bar: Bar) -> str:
    """Return a bar as SVG; the numbers are in the cells beside it, so that a screen reader leaves it out."""

    def place(number: float) -> str:
        share = (number - bar.start) / (bar.end - bar.start) if bar.end > bar.start else 0.5
        return f"{EDGE + min(max(share, 0.0), 1.0) * (WIDTH - 2 * EDGE):.1f}"

    middle, parts = HEIGHT / 2, []
    if bar.start < 0 < bar.end:
        parts.append(f'<path d="M{place(0.0)} 0V{HEIGHT}" stroke-dasharray="2"/>')
    if math.isfinite(bar.low) and math.isfinite(bar.high):
        low, high = place(bar.low), place(bar.high)
        ends = "".join(f"M{end} {middle - 4:g}V{middle + 4:g}" for end in (low, high))
        parts.append(f'<path d="M{low} {middle:g}H{high}{ends}"/>')
    if math.isfinite(bar.middle):
        parts.append(f'<circle cx="{place(bar.middle)}" cy="{middle:g}" r="3" fill="currentColor"/>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {size} fill="none" stroke="currentColor" aria-hidden="true">{"".join(parts)}</svg>'


def html_facts(facts: Sequence[Fact]) -> str:
    """Return facts as a list of headings and texts; one heading holds for the facts below that share it."""
    lines, above = ["<dl>"], None
    for fact in facts:
        if above is None or fact.heading not in {"", above}:
            lines.append(f"<dt>{escaped(fact.heading)}</dt>")
            above = fact.heading
        lines.append(f"<dd{_class('warning' if fact.is_warning else '')}>{escaped(fact.text)}</dd>")
    return "\n".join([*lines, "</dl>"])


def _closing(text: str) -> str:
    """Return lines as paragraphs, indented ones, which are commands, as they are."""
    return "\n".join(
        f"<pre>{escaped(line.strip())}</pre>" if line.startswith(" ") else f"<p>{escaped(line)}</p>"
        for line in text.splitlines()
    )


register(ReportFormat(name="html", suffixes=(".html", ".htm"), write=as_html, place=5))
