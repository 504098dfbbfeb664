"""Sheets of Excel workbooks (.xlsx): their cells as text, read with the zip and XML readers of Python."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from deadheat.core.errors import DataError, DeadheatWarning, FileFormatError
from deadheat.core.io.memory_limits import check_cells, check_memory

_ROWS, _TEXTS = "{*}sheetData/{*}row", ("{*}t", "{*}r/{*}t", "{*}is/{*}t", "{*}is/{*}r/{*}t")
_PER_XML_BYTE = 20  # bytes of memory; measured 11 to 16
_TARGET = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_sheet(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a workbook's first sheet that has any: the first is the header, blank ones are left out.

    Columns without a name are left out too; a number is as Excel stores it, a date the number of a day.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    list of (int, list of str)
        The number of each row, and its cells, as many as the header has.

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
            check_memory(_PER_XML_BYTE * sum(one.file_size for one in book.infolist()), path.stat().st_size, path)
            found = {name: rows for name, rows in _sheets(book) if rows}
    except DataError:
        raise
    except Exception as error:  # of a damaged file zipfile, zlib, lzma and ElementTree raise a dozen kinds
        raise FileFormatError(
            allowed="an Excel workbook (.xlsx)",
            found=f"something else, or a damaged one ({error!r:.80})",
            path=path,
        ) from error
    if not found:
        raise DataError("no sheet has a cell", allowed="column names and rows", path=path)
    (name, rows), *others = found.items()
    if others:
        left = ", ".join(repr(other) for other, _ in others)
        warnings.warn(f"{path}: sheet {name!r} is read, {left} not", DeadheatWarning, stacklevel=2)
    columns = list(rows[0][1])
    check_cells(len(rows), len(columns), path, path.stat().st_size)
    errors = [
        f"cell {one}{line} has the error {cells[one][0]}"
        for line, cells in rows
        for one in columns
        if one in cells and cells[one][1]
    ]
    if errors:
        raise DataError(errors[0], hint="mend the formula, or empty the cell", path=path)
    return [(line, [cells[one][0] if one in cells else "" for one in columns]) for line, cells in rows]


def _sheets(book: ZipFile) -> Iterator[tuple[str, list[tuple[int, dict[str, tuple[str, bool]]]]]]:
    """Yield the name of each sheet, and its cells by column, as `_cells` has them; rows without any are left out."""
    targets = {one.attrib["Id"]: one.attrib["Target"] for one in _part(book, "xl/_rels/workbook.xml.rels")}
    names = book.namelist()
    shared = [_text(one) for one in _part(book, "xl/sharedStrings.xml")] if "xl/sharedStrings.xml" in names else []
    for sheet in _part(book, "xl/workbook.xml").findall("{*}sheets/{*}sheet"):
        target = targets[sheet.attrib[_TARGET]]
        rows = _part(book, target.removeprefix("/") if target.startswith("/") else f"xl/{target}").findall(_ROWS)
        found = [
            (int(row.get("r", line)), {column: cell for column, cell in _cells(row, shared) if cell[0].strip()})
            for line, row in enumerate(rows, 1)
        ]
        yield sheet.attrib["name"], [(line, cells) for line, cells in found if cells]


def _cells(row: Any, shared: list[str]) -> Iterator[tuple[str, tuple[str, bool]]]:  # noqa: ANN401 - an element, or alike
    """Yield the column of each cell of a row, with its text and whether that is an error of a formula."""
    for place, cell in enumerate(row.findall("{*}c")):
        column = re.sub(r"\d", "", cell.get("r", "")) or str(place)
        value, kind = cell.findtext("{*}v", ""), cell.get("t")
        value = {"0": "false", "1": "true"}[value] if kind == "b" else value
        text = shared[int(value)] if kind == "s" else _text(cell) if kind == "inlineStr" else value
        yield column, (text, kind == "e")


def _part(book: ZipFile, name: str) -> Any:  # noqa: ANN401 - an element, or a C class like it
    from xml.etree import ElementTree as ET  # few files are workbooks

    data = book.read(name)
    if b"<!DOCTYPE" in data:  # Excel writes none; one could define entities without end
        raise ValueError("it has a document type")
    return ET.fromstring(data)  # noqa: S314 - entities are refused


def _text(element: Any) -> str:  # noqa: ANN401 - as above
    """Return the text of a cell, which may be in pieces of different looks; how it is pronounced is no part of it."""
    return "".join(one.text or "" for pieces in _TEXTS for one in element.findall(pieces))
