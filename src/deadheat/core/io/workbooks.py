"""Sheets of Excel workbooks (.xlsx): their cells as text, read with the zip and XML readers of Python."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from deadheat.core.errors import DataError, DeadheatWarning, FileFormatError
from deadheat.core.io.memory_limits import check_cells, check_memory

_ROWS = "{*}sheetData/{*}row"
_TEXTS = ("{*}t", "{*}r/{*}t", "{*}is/{*}t", "{*}is/{*}r/{*}t")
_PER_XML_BYTE = 20  # bytes of memory; measured 11 to 16
_TARGET = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SHARED_TEXTS = "xl/sharedStrings.xml"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet.

    Attributes
    ----------
    line : int
        Its number in the sheet.
    cells : list of str
        As many as the header has.
    """

    line: int
    cells: list[str]


class _Cell(NamedTuple):
    """The text of a cell, and whether it is an error of a formula, such as #N/A."""

    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a sheet with its cells by column, such as "AB"; those without text are left out."""

    line: int
    cells: dict[str, _Cell]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet with its rows; those without text are left out."""

    name: str
    rows: list[_Row]


def read_sheet(path: Path) -> list[SheetRow]:
    """Return the rows of a workbook's first sheet that has any: the first is the header, blank ones are left out.

    Columns without a name are left out too; a number is as Excel stores it, a date the number of a day.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    FileFormatError
        It is no workbook, is damaged, or would take too much memory.
    DataError
        It has no cell, or one with an error such as #N/A below a name of a column.

    Warns
    -----
    DeadheatWarning
        Other sheets have content too.
    """
    try:
        with ZipFile(path) as book:
            n_unpacked = sum(part.file_size for part in book.infolist())
            check_memory(_PER_XML_BYTE * n_unpacked, path.stat().st_size, path)
            sheets = {sheet.name: sheet for sheet in _read_sheets(book) if sheet.rows}
    except DataError:
        raise
    except Exception as error:  # of a damaged file zipfile, zlib, lzma and ElementTree raise a dozen kinds
        raise FileFormatError(
            allowed="an Excel workbook (.xlsx)",
            found=f"something else, or a damaged one ({error!r:.80})",
            path=path,
        ) from error
    if not sheets:
        raise DataError("no sheet has a cell", allowed="column names and rows", path=path)
    sheet, *other_sheets = sheets.values()
    if other_sheets:
        unread = ", ".join(repr(other_sheet.name) for other_sheet in other_sheets)
        warnings.warn(f"{path}: sheet {sheet.name!r} is read, {unread} not", DeadheatWarning, stacklevel=2)
    columns = list(sheet.rows[0].cells)
    check_cells(len(sheet.rows), len(columns), path, path.stat().st_size)
    table = []
    for row in sheet.rows:
        table.append(SheetRow(row.line, _list_texts(row, columns, path)))
    return table


def _list_texts(row: _Row, columns: list[str], path: Path) -> list[str]:
    """Return the text of a row in each column, "" without a cell; raise for an error of a formula."""
    texts = []
    for column in columns:
        if column not in row.cells:
            texts.append("")
            continue
        cell = row.cells[column]
        if cell.is_error:
            raise DataError(
                f"cell {column}{row.line} has the error {cell.text}",
                hint="mend the formula, or empty the cell",
                path=path,
            )
        texts.append(cell.text)
    return texts


def _read_sheets(book: ZipFile) -> Iterator[_Sheet]:
    """Yield all sheets."""
    targets = {}
    for relation in _read_part(book, "xl/_rels/workbook.xml.rels"):
        targets[relation.attrib["Id"]] = relation.attrib["Target"]
    shared_texts = []
    if _SHARED_TEXTS in book.namelist():
        shared_texts = [_join_texts(item) for item in _read_part(book, _SHARED_TEXTS)]
    for sheet in _read_part(book, "xl/workbook.xml").findall("{*}sheets/{*}sheet"):
        target = targets[sheet.attrib[_TARGET]]
        part_name = f"xl/{target}"
        if target.startswith("/"):
            part_name = target.removeprefix("/")
        rows = []
        for place, row in enumerate(_read_part(book, part_name).findall(_ROWS), 1):
            line = int(row.get("r", place))
            cells = _read_cells(row, shared_texts)
            if cells:
                rows.append(_Row(line, cells))
        yield _Sheet(sheet.attrib["name"], rows)


def _read_cells(row: Any, shared_texts: list[str]) -> dict[str, _Cell]:  # noqa: ANN401 - an element, or alike
    """Return the cells of a row that have text, by column."""
    cells = {}
    for place, cell in enumerate(row.findall("{*}c")):
        column = re.sub(r"\d", "", cell.get("r", "")) or str(place)
        cell_type = cell.get("t")
        value = cell.findtext("{*}v", "")
        if cell_type == "b":
            text = {"0": "false", "1": "true"}[value]
        elif cell_type == "s":
            text = shared_texts[int(value)]
        elif cell_type == "inlineStr":
            text = _join_texts(cell)
        else:
            text = value
        if text.strip():
            cells[column] = _Cell(text, is_error=cell_type == "e")
    return cells


def _read_part(book: ZipFile, name: str) -> Any:  # noqa: ANN401 - an element, or a C class like it
    """Return the root of one of a workbook's XML files."""
    from xml.etree import ElementTree as ET  # few files are workbooks

    data = book.read(name)
    if b"<!DOCTYPE" in data:  # Excel writes none; one could define entities without end
        raise ValueError("it has a document type")
    return ET.fromstring(data)  # noqa: S314 - entities are refused


def _join_texts(element: Any) -> str:  # noqa: ANN401 - as above
    """Return the text of a cell, which may be in pieces of different looks; how it is pronounced is no part of it."""
    pieces = []
    for path in _TEXTS:
        for piece in element.findall(path):
            pieces.append(piece.text or "")
    return "".join(pieces)
