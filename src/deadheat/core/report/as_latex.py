"""Reports as LaTeX, for the package booktabs."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from deadheat.core.report.cells import Cell, NumberCell, format_cell
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import MOST_SIDE_BY_SIDE, Report, Row, Table
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
BOUND = re.compile(r"[<>][\d.]+")  # such as <.0001


def as_latex(report: Report, *, digits: int | None = None) -> str:
    """Return the tables of a report as booktabs tables; all that it says beside them are comments above them.

    A table with a caption is a float with caption and label; one without that is longer than a page is a longtable,
    which repeats its headings on each page. What the classic engine cannot print is printed by LuaTeX
    and XeTeX, and is an escape elsewhere.
    """
    comments = [text for text, _ in report.above]
    comments += [fact.sentence for fact in (*report.summary, *report.shown)]
    comments += report.closing.splitlines()
    tables = []
    for table in report.tables:
        has_room = len(table.groups) <= MOST_SIDE_BY_SIDE
        narrow = table if has_room else table.with_groups_as_rows()
        tables.append(_place(narrow.for_people(), digits))
    text = "\n".join(tables)
    packages = "booktabs,textcomp"
    if r"\begin{longtable}" in text:
        packages += ",longtable"
    if r"\resizebox" in text:
        packages += ",graphicx"
    lines = [f"% needs \\usepackage{{{packages}}}"]
    lines += [f"% {escape_for_terminal(comment)}" for comment in comments]
    return "\n".join([*lines, text])


def _is_long(table: Table) -> bool:
    """Whether a table does not fit a page; a float with a caption cannot be broken."""
    return len(table.rows) > MOST_ROWS and not table.caption


def _place(table: Table, digits: int | None) -> str:
    """Return a table as a float with its caption, or without one in the text."""
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


@dataclass(frozen=True)
class _Layout:
    """Which columns of LaTeX the columns of a table take.

    Attributes
    ----------
    are_long : list of bool
        Whether the label of a column may be broken into lines: where a captioned table has long names.
    are_ranked : list of bool
        Whether a column of a group takes two of LaTeX's: numbers flush right, and marks behind them.
    n_labels, n_columns, n_groups : int
        Of the table.
    """

    are_long: list[bool]
    are_ranked: list[bool]
    n_labels: int
    n_columns: int
    n_groups: int

    @property
    def width(self) -> int:
        """How many columns of LaTeX there are."""
        return self.n_labels + (self.n_columns + sum(self.are_ranked)) * self.n_groups


def _lay_out(table: Table) -> _Layout:
    """Return which columns of LaTeX a table takes."""
    are_ranked = []
    for n in range(len(table.columns)):
        are_ranked.append(any(isinstance(cell, NumberCell) and cell.kind == "ranked" for cell in table.cells_of(n)))
    are_long = []
    for n in range(len(table.labels)):
        has_long_name = any(len(row.labels[n]) > LONGEST_NAME for row in table.rows)
        are_long.append(bool(table.caption) and has_long_name)
    return _Layout(are_long, are_ranked, len(table.labels), len(table.columns), len(table.groups))


def _lines(table: Table, digits: int | None) -> list[str]:
    """Return a table as an environment of LaTeX."""
    layout = _lay_out(table)
    environment = "longtable" if _is_long(table) else "tabular"
    lines = [rf"\begin{{{environment}}}{{{_column_types(table, layout)}}}", r"\toprule"]
    if table.title:
        lines.append(rf"\multicolumn{{{layout.width}}}{{l}}{{{escaped(table.title)}}} \\")
        lines.append(r"\midrule")
    if table.is_grouped:
        lines += _group_headings(table, layout)
    lines.append(_column_headings(table, layout))
    lines.append(r"\midrule")
    if _is_long(table):
        lines.append(r"\endhead")
    for row in table.rows:
        lines.append(_row(_texts(row, layout, digits)))
    lines += [r"\bottomrule", rf"\end{{{environment}}}"]
    return lines


def _column_types(table: Table, layout: _Layout) -> str:
    """Return how the columns of an environment are aligned."""
    labels = [NAME_COLUMN if is_long else "l" for is_long in layout.are_long]
    columns = []
    for is_words, is_ranked in zip(table.are_words, layout.are_ranked, strict=True):
        if is_words:
            columns.append("l")
        elif is_ranked:
            columns.append("r@{}l")
        else:
            columns.append("r")
    return "".join([*labels, *columns * layout.n_groups])


def _group_headings(table: Table, layout: _Layout) -> list[str]:
    """Return the line with the name of each group above its columns, and the rules below the names."""
    n_labels = layout.n_labels
    n_columns = layout.n_columns
    names = [rf"\multicolumn{{{n_columns}}}{{c}}{{{escaped(name)}}}" for name in table.groups]
    rules = []
    for group in range(layout.n_groups):
        start = n_labels + 1 + group * n_columns
        rules.append(rf"\cmidrule(lr){{{start}-{start + n_columns - 1}}}")
    return [_row([*[""] * n_labels, *names]), " ".join(rules)]


def _column_headings(table: Table, layout: _Layout) -> str:
    """Return the line with the headings of all columns."""
    labels = [escaped(column.heading) for column in table.labels]
    headings = []
    for column, is_ranked in zip(table.columns, layout.are_ranked, strict=True):
        heading = escaped(column.heading)
        headings.append(rf"\multicolumn{{2}}{{c}}{{{heading}}}" if is_ranked else heading)
    return _row([*labels, *headings * layout.n_groups])


def _texts(row: Row, layout: _Layout, digits: int | None) -> list[str]:
    """Return the labels and the cells of a row as LaTeX."""
    texts = []
    for label, is_long in zip(row.labels, layout.are_long, strict=True):
        texts.append(rf"\raggedright {_breakable(label)}" if is_long else escaped(label))
    for cells in row.cells:
        for cell, is_ranked in zip(cells, layout.are_ranked, strict=True):
            texts.append(_ranked(cell, digits) if is_ranked else _cell(cell, digits))
    return texts


def _row(texts: Sequence[str]) -> str:
    """Return a line of a table."""
    line = " & ".join(texts)
    if line.startswith(("[", "*", "::")):  # would be an option of the \\ above it, or in a build log a command
        line = "{}" + line
    return line + r" \\"


def _breakable(text: str) -> str:
    """Return a name that, if it is long, may be broken behind its signs, and inside long parts without signs."""
    if len(text) <= LONGEST_NAME:
        return escaped(text)
    return r"\allowbreak{}".join(map(escaped, PART_OF_NAME.findall(format_for_people(text))))


def _ranked(cell: Cell, digits: int | None) -> str:
    """Return a cell of a column of ranked numbers: the number, bold if it is the best, and its marks."""
    if not isinstance(cell, NumberCell):
        return _cell(cell, digits) + " & "
    number = escaped(format_cell(cell.value, digits, empty="--"))
    if cell.is_best:
        number = rf"\textbf{{{number}}}"
    marks = ""
    if cell.marks:
        marks = rf"\textsuperscript{{{escaped(cell.marks).replace('-', '--')}}}"
    return f"{number} & {marks}"


def _cell(cell: Cell, digits: int | None) -> str:
    """Return a cell; a number that is a bound begins with a relation, which is mathematics."""
    text = format_cell(cell, digits, empty="--")
    if isinstance(cell, str):
        return escaped(text)
    bound = BOUND.match(text)
    if bound is None:
        return escaped(text)
    return f"${bound[0]}${escaped(text[bound.end() :])}"


def escaped(text: str) -> str:
    r"""Return a text that LaTeX prints as it is.

    Examples
    --------
    >>> escaped("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    parts: list[str] = []
    for is_printed, characters in groupby(format_for_people(text), key=_is_printed):
        if is_printed:
            parts += [ESCAPES.get(character, character) for character in characters]
        else:
            parts.append(_other(list(characters)))
    return "".join(parts)


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
