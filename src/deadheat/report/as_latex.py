"""Reports as LaTeX, for the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Cell, Report, Table
from deadheat.report.numbers import format_cell
from deadheat.wording import printable

ESCAPES = {
    "\\": r"\textbackslash{}",
    **{character: "\\" + character for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
}
BOUND = re.compile(r"[<>][\d.]+")  # such as <.0001: a relation, which is mathematics


def as_latex(report: Report, *, digits: int | None = None) -> str:
    """Return the tables of a report as booktabs tables; its heading and facts are comments above them."""
    said = [report.heading] if report.heading else []
    facts = [f"% {printable(text)}" for text in (*said, *(fact.sentence for fact in report.shown))]  # each is one line
    tables = ["\n".join(_lines(table.for_people(), digits)) for table in report.tables]
    return "\n".join(["% needs \\usepackage{booktabs,textcomp}", *facts, *tables])


def _lines(table: Table, digits: int | None) -> Iterator[str]:
    n_labels, n_columns = len(table.labels), len(table.columns)
    aligned = "".join("l" if table.holds_words(place) else "r" for place in range(n_columns))
    yield r"\begin{tabular}{" + "l" * n_labels + aligned * len(table.groups) + "}"
    yield r"\toprule"
    if table.title:
        width = n_labels + n_columns * len(table.groups)
        yield rf"\multicolumn{{{width}}}{{l}}{{{escaped(table.title)}}} \\"
        yield r"\midrule"
    if table.is_grouped:
        spans = [rf"\multicolumn{{{n_columns}}}{{c}}{{{escaped(name)}}}" for name in table.groups]
        yield " & ".join([*[""] * n_labels, *spans]) + r" \\"
        starts = range(n_labels + 1, n_labels + 1 + n_columns * len(table.groups), n_columns)
        yield " ".join(rf"\cmidrule(lr){{{start}-{start + n_columns - 1}}}" for start in starts)
    headings = [*table.labels, *(column for _ in table.groups for column in table.columns)]
    yield " & ".join(escaped(column.heading) for column in headings) + r" \\"
    yield r"\midrule"
    for row in table.rows:
        cells = [_cell(cell, digits) for group in row.cells for cell in group]
        yield _whole(" & ".join([*map(escaped, row.labels), *cells])) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _cell(cell: Cell, digits: int | None) -> str:
    text = format_cell(cell, digits, empty="--")
    bound = None if isinstance(cell, str) else BOUND.match(text)
    return escaped(text) if bound is None else f"${bound[0]}${escaped(text[bound.end() :])}"


def escaped(text: str) -> str:
    r"""Return a text that LaTeX prints as it is.

    Examples
    --------
    >>> escaped("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(ESCAPES.get(character, character) for character in printable(text))


def _whole(row: str) -> str:
    r"""Return a row that LaTeX does not take for an option of the \\ above it."""
    return "{}" + row if row.startswith(("[", "*")) else row


register(
    ReportFormat(
        name="latex",
        suffixes=(".tex",),
        write=as_latex,
        needs="scores",
        place=4,
    )
)
