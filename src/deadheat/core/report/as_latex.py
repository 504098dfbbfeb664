"""Reports as LaTeX, for the package booktabs."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from deadheat.core.report.cells import Cell, NumberCell, format_cell
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import MOST_SIDE_BY_SIDE, Report, Table
from deadheat.core.wording import escape_for_terminal, format_for_people

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
    '"': r"{\char34}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "↓": r"$\downarrow$",
}
# Letters and signs that the classic engine prints with the package textcomp (sharp s, ae, oe, crossed o and l, dashes,
# quotation marks, ...), and the accents of Latin letters that it composes: grave, acute, circumflex, tilde, diaeresis,
# ring, cedilla, caron.
PRINTED = "ßæÆøØœŒłŁı·±£§¶©®°¡¿…\u00d7\u2013\u2014\u2018\u2019\u201c\u201d"
ACCENTS = "\u0300\u0301\u0302\u0303\u0308\u030a\u0327\u030c"
LATIN_END = 0x180
FLOAT = r"""\begin{table*}
\centering
\caption{%s}
\label{tab:%s}
\medskip
\small
\setlength{\tabcolsep}{4pt}
%s
\end{table*}"""
LONGEST_NAME = 24  # of a label that stays on one line
MOST_ROWS = 45  # on a page
LINE_WIDTH = 65  # characters of a table on a line of the class article
SMALL_LINE_WIDTH = 75  # the same at \small
MOST_SCALED = 100  # characters of a table that is made as narrow as a line, and can still be read
GAP = "  "  # between two columns
SMALL = r"{\small\setlength{\tabcolsep}{4pt}%"
NAME_COLUMN = r"p{0.27\linewidth}"
PART_OF_NAME = re.compile(r"[^\W_]{1,12}[-_./:@ ]*|[\W_]+?(?=[^\W_]|$)|[\W_]")
BOUND = re.compile(r"[<>][\d.]+")  # such as <.0001: a relation, which is mathematics


def as_latex(report: Report, *, digits: int | None = None) -> str:
    """Return the tables of a report as booktabs tables; all that it says beside them are comments above them.

    A table with a caption is a float with caption and label; one without that is longer than a page is a longtable,
    which repeats its headings on each page. What the classic engine cannot print is printed by LuaTeX
    and XeTeX, and is an escape elsewhere.
    """
    said = [
        *(text for text, _ in report.above),
        *(fact.sentence for fact in (*report.summary, *report.shown)),
        *report.closing.splitlines(),
    ]
    tables = [
        _float((table if len(table.groups) <= MOST_SIDE_BY_SIDE else table.with_groups_as_rows()).for_people(), digits)
        for table in report.tables
    ]
    packages = "booktabs,textcomp"
    text = "\n".join(tables)
    if r"\begin{longtable}" in text:
        packages += ",longtable"
    if r"\resizebox" in text:
        packages += ",graphicx"
    return "\n".join(
        [f"% needs \\usepackage{{{packages}}}", *(f"% {escape_for_terminal(text)}" for text in said), text]
    )


def _is_long(table: Table) -> bool:
    """Whether a table does not fit a page; a float with a caption cannot be broken."""
    return len(table.rows) > MOST_ROWS and not table.caption


def _float(table: Table, digits: int | None) -> str:
    if not table.caption:
        return _in_text(table, digits)
    caption = " ".join(map(_breakable, table.caption.split(" ")))
    return FLOAT % (caption, table.key, "\n".join(_lines(table, digits)))


def _in_text(table: Table, digits: int | None) -> str:
    """Return a table as narrow as a line: without the columns that can be spared, which a comment names, and scaled."""
    fitting = table
    for level in sorted({column.spare for column in table.columns} - {0}, reverse=True):
        if _width(fitting, digits) <= MOST_SCALED or level < 0:
            break
        fitting = fitting.select([n for n, column in enumerate(fitting.columns) if column.spare != level])
    lines = _lines(fitting, digits)
    width = _width(fitting, digits)
    if width <= LINE_WIDTH:
        return "\n".join(lines)
    # sentences would become too small to be read, and a longtable cannot be scaled
    if SMALL_LINE_WIDTH < width <= 2 * SMALL_LINE_WIDTH and not _is_long(fitting):
        lines = [r"\resizebox{\linewidth}{!}{%", *lines[:-1], lines[-1] + "%", "}"]
    kept = {column.key for column in fitting.columns}
    left_out = [column.heading for column in table.columns if column.key not in kept and column.heading]
    comment = []
    if left_out:
        names = escape_for_terminal(", ".join(left_out))
        comment = [f"% too wide for a page, so without these columns, which csv and json have: {names}"]
    return "\n".join([*comment, r"\par\medskip\noindent", SMALL, *lines[:-1], lines[-1] + "%", "}", r"\par\noindent"])


def _width(table: Table, digits: int | None) -> int:
    """Return about how many characters wide a table is."""
    width = 0
    for n, label in enumerate(table.labels):
        width += max(map(len, [label.heading, *(row.labels[n] for row in table.rows)])) + len(GAP)
    for n, column in enumerate(table.columns):
        texts = [format_cell(cell, digits) for cell in table.cells_of(n)]
        width += len(table.groups) * (max(map(len, [column.heading, *texts])) + len(GAP))
    return width - len(GAP)


def _lines(table: Table, digits: int | None) -> list[str]:
    n_labels, n_columns = len(table.labels), len(table.columns)
    is_ranked = [  # these columns take two of LaTeX's: numbers flush right, and marks behind them
        any(isinstance(cell, NumberCell) and cell.kind == "ranked" for cell in table.cells_of(n))
        for n in range(n_columns)
    ]
    names = [  # those of a captioned table may be so long that they are broken into lines
        bool(table.caption) and any(len(row.labels[place]) > LONGEST_NAME for row in table.rows)
        for place in range(n_labels)
    ]
    kinds = (
        "l" if is_words else "r@{}l" if is_wide else "r"
        for is_words, is_wide in zip(table.are_words, is_ranked, strict=True)
    )
    labels, aligned = "".join(NAME_COLUMN if is_long else "l" for is_long in names), "".join(kinds)
    width = n_labels + (n_columns + sum(is_ranked)) * len(table.groups)
    groups = [rf"\multicolumn{{{n_columns}}}{{c}}{{{escaped(name)}}}" for name in table.groups]
    starts = range(n_labels + 1, n_labels + 1 + n_columns * len(table.groups), n_columns)
    headings = [
        rf"\multicolumn{{2}}{{c}}{{{escaped(column.heading)}}}" if is_wide else escaped(column.heading)
        for column, is_wide in zip(table.columns, is_ranked, strict=True)
    ]
    rows = [
        [
            *(
                rf"\raggedright {_breakable(text)}" if is_long else escaped(text)
                for text, is_long in zip(row.labels, names, strict=True)
            ),
            *(
                _ranked(cell, digits) if is_wide else _cell(cell, digits)
                for group in row.cells
                for cell, is_wide in zip(group, is_ranked, strict=True)
            ),
        ]
        for row in table.rows
    ]
    environment = "longtable" if _is_long(table) else "tabular"
    return [
        rf"\begin{{{environment}}}{{{labels}{aligned * len(table.groups)}}}",
        r"\toprule",
        *([rf"\multicolumn{{{width}}}{{l}}{{{escaped(table.title)}}} \\", r"\midrule"] if table.title else []),
        *(
            [
                _row([*[""] * n_labels, *groups]),
                " ".join(rf"\cmidrule(lr){{{start}-{start + n_columns - 1}}}" for start in starts),
            ]
            if table.is_grouped
            else []
        ),
        _row([*(escaped(column.heading) for column in table.labels), *headings * len(table.groups)]),
        r"\midrule",
        *([r"\endhead"] if _is_long(table) else []),
        *map(_row, rows),
        r"\bottomrule",
        rf"\end{{{environment}}}",
    ]


def _row(texts: Sequence[str]) -> str:
    line = " & ".join(texts)
    # what begins so would be an option of the \\ above it, or in a build log a command
    return "{}" * line.startswith(("[", "*", "::")) + line + r" \\"


def _breakable(text: str) -> str:
    """Return a name that, if it is long, may be broken behind its signs, and inside long parts without signs."""
    if len(text) <= LONGEST_NAME:
        return escaped(text)
    return r"\allowbreak{}".join(map(escaped, PART_OF_NAME.findall(format_for_people(text))))


def _ranked(cell: Cell, digits: int | None) -> str:
    if not isinstance(cell, NumberCell):
        return _cell(cell, digits) + " & "
    number = escaped(format_cell(cell.value, digits, empty="--"))
    marks = rf"\textsuperscript{{{escaped(cell.marks).replace('-', '--')}}}" if cell.marks else ""
    return (rf"\textbf{{{number}}}" if cell.is_best else number) + f" & {marks}"


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
    return "".join(
        "".join(ESCAPES.get(character, character) for character in run) if is_printed else _other(list(run))
        for is_printed, run in groupby(format_for_people(text), key=_is_printed)
    )


def _other(characters: list[str]) -> str:
    """Return characters that LuaTeX and XeTeX print, and an escape of them for the classic engine."""
    escapes = " ".join(f"U+{ord(character):04X}" for character in characters)
    return rf"\ifdefined\Umathchar {''.join(characters)}\else {escapes}\fi{{}}"


def _is_printed(character: str) -> bool:
    """Whether the classic engine prints a character, perhaps escaped."""
    if character.isascii() or character in PRINTED or character in ESCAPES:
        return True
    parts = unicodedata.normalize("NFD", character)
    return len(parts) == 2 and parts[0].isascii() and parts[1] in ACCENTS and ord(character) < LATIN_END


register(ReportFormat(name="latex", suffixes=(".tex",), write=as_latex, needs="scores", place=40))
