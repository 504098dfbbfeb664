"""Excel workbooks (.xlsx): the cells of a sheet as text, as the zip and XML readers of Python see them."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

from deadheat.errors import DataError, DeadheatWarning, FileFormatError, Plain
from deadheat.io import source

_ROWS, _TEXTS = "{*}sheetData/{*}row", ".//{*}t"
_PHONETIC = "{*}rPh"  # how a text is pronounced; no part of it
_HELD = 20  # bytes of memory for a byte of XML; measured 11 to 16
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

    Warns
    -----
    DeadheatWarning
        Other sheets have content too.
    """
    try:
        with ZipFile(path) as book:
            source.check_held(_HELD * sum(one.file_size for one in book.infolist()), path.stat().st_size, path)
            found = {name: rows for name, rows in _sheets(book) if rows}
    except DataError:
        raise
    except (BadZipFile, ET.ParseError, LookupError, ValueError, NotImplementedError, RuntimeError, OSError) as error:
        raise FileFormatError(
            allowed="an Excel workbook (.xlsx)",
            given=Plain(f"something else, or a damaged one ({error!r:.80})"),
            path=path,
        ) from error
    if not found:
        raise DataError("no sheet has a cell", allowed="column names and rows", path=path)
    (name, rows), *others = found.items()
    if others:
        left = ", ".join(repr(other) for other, _ in others)
        warnings.warn(f"{path}: sheet {name!r} is read, {left} not", DeadheatWarning, stacklevel=2)
    _, header = rows[0]
    kept = [column for column, cell in header.items() if cell.strip()]
    return [(line, [cells.get(column, "") for column in kept]) for line, cells in rows]


def _sheets(book: ZipFile) -> Iterator[tuple[str, list[tuple[int, dict[str, str]]]]]:
    """Yield the name of each sheet, and the text of its cells by column; rows without any are left out."""
    targets = {one.attrib["Id"]: one.attrib["Target"] for one in _part(book, "xl/_rels/workbook.xml.rels")}
    names = book.namelist()
    shared = [_text(one) for one in _part(book, "xl/sharedStrings.xml")] if "xl/sharedStrings.xml" in names else []
    for sheet in _part(book, "xl/workbook.xml").findall("{*}sheets/{*}sheet"):
        target = targets[sheet.attrib[_TARGET]]
        rows = _part(book, target.removeprefix("/") if target.startswith("/") else f"xl/{target}").findall(_ROWS)
        found = [
            (int(row.get("r", line)), {column: text for column, text in _cells(row, shared) if text.strip()})
            for line, row in enumerate(rows, 1)
        ]
        yield sheet.attrib["name"], [(line, cells) for line, cells in found if cells]


def _cells(row: Any, shared: list[str]) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - an element, or a C class like it
    """Yield the column and the text of each cell of a row."""
    for place, cell in enumerate(row.findall("{*}c")):
        column = re.sub(r"\d", "", cell.get("r", "")) or str(place)
        value = cell.findtext("{*}v", "")
        kind = cell.get("t")
        yield column, shared[int(value)] if kind == "s" else _text(cell) if kind == "inlineStr" else value


def _part(book: ZipFile, name: str) -> ET.Element:
    data = book.read(name)
    if b"<!DOCTYPE" in data:  # Excel writes none; one could define entities without end
        raise ValueError("it has a document type")
    return ET.fromstring(data)  # noqa: S314 - entities are refused


def _text(element: ET.Element) -> str:
    """Return the text of a cell, which may be in pieces of different looks."""
    spoken = {id(one) for phonetic in element.findall(f".//{_PHONETIC}") for one in phonetic.iter()}
    return "".join(one.text or "" for one in element.findall(_TEXTS) if id(one) not in spoken)
