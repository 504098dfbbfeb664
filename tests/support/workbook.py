"""Excel workbooks for tests, written by hand: texts shared or inline, and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_workbook(
    path: Path, sheets: Mapping[str, Mapping[int, Sequence[object]]], *, is_inline: bool = False, main: str = MAIN
) -> Path:
    """Write sheets of rows, each with its number; None leaves a cell out, an exception is an error such as #N/A."""
    shared: list[str] = []

    def cell(value: object, where: str) -> str:
        if isinstance(value, bool):
            return f'<c r="{where}" t="b"><v>{value:d}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{where}"><v>{value}</v></c>'
        if isinstance(value, Exception):
            return f'<c r="{where}" t="e"><f>A1</f><v>{value}</v></c>'
        if is_inline:
            return f'<c r="{where}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
        shared.append(str(value))
        return f'<c r="{where}" t="s"><v>{len(shared) - 1}</v></c>'

    parts = {}
    for number, rows in enumerate(sheets.values(), 1):
        lines = "".join(
            f'<row r="{line}">'
            + "".join(cell(one, f"{_letters(place)}{line}") for place, one in enumerate(own) if one is not None)
            + "</row>"
            for line, own in rows.items()
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
        )
    names = "".join(f'<sheet name="{name}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
    parts["xl/workbook.xml"] = f'<workbook xmlns="{main}" xmlns:r="{RELATIONS}"><sheets>{names}</sheets></workbook>'
    targets = "".join(
        f'<Relationship Id="rId{n}" Target="{"worksheets" if n == 1 else "/xl/worksheets"}/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{PACKAGE}">{targets}</Relationships>'
    if shared:  # in two pieces, as of text in two looks, and with how it is pronounced
        items = "".join(
            f"<si><r><t>{escape(text[:1])}</t></r><r><t>{escape(text[1:])}</t></r><rPh><t>aloud</t></rPh></si>"
            for text in shared
        )
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{main}">{items}</sst>'
    with ZipFile(path, "w", ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path


def _letters(place: int) -> str:
    """Return the name of a column: A to Z, then AA."""
    first, last = divmod(place, 26)
    name = chr(ord("A") + last)
    return _letters(first - 1) + name if first else name
