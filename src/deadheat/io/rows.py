"""Rows of CSV and TSV with their lines, as Python's csv module reads them in strict mode: slow but right."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal

from deadheat.errors import MalformedRowError, Plain, shown
from deadheat.io import source
from deadheat.io.source import BOM, decoded
from deadheat.io.values import LINE_ENDS

_QUOTES = 'a field that begins with a quote must end with one, and a quote inside it is doubled, ""'
_SEPARATOR = re.compile(rb"""["']?sep=([;,\t|])["']?[;,\t|]*\s*""", re.IGNORECASE)


class FileRows:
    """The rows of an open file below its header, one after the other; blank rows are skipped.

    A first line such as ``sep=;``, which Excel writes and reads, says the separator.

    Parameters
    ----------
    file : binary file
        At its start.
    path : pathlib.Path
        For messages.
    separator : str
    quoting : int
        ``csv.QUOTE_MINIMAL`` or ``csv.QUOTE_NONE``.

    Attributes
    ----------
    separator : str
    header : list of str
        The first row that is not blank; empty in a file without rows.
    n_lines, n_bytes : int
        How much of the file has been read so far; at first, the header.
    """

    def __init__(
        self, file: BinaryIO, path: Path, separator: str, *, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    ) -> None:
        self.n_lines = self.n_bytes = 0
        self._file, self._path = file, path
        self._last = b""
        self._first = file.readline(source.LONGEST_LINE + 2)
        said = _SEPARATOR.fullmatch(self._first.removeprefix(BOM))
        self.separator = said[1].decode() if said else separator
        if said:
            self.n_lines, self.n_bytes, self._first = 1, len(self._first), b""
        # for all readers of the process: it can only be larger
        csv.field_size_limit(max(csv.field_size_limit(), source.LONGEST_LINE))
        self._rows = csv.reader(self._lines(), delimiter=self.separator, quoting=quoting, strict=True)
        self.header = [name.strip() for name in next((row for _, row in self), [])]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which a row begins, and its fields.

        Raises
        ------
        MalformedRowError
            Quotes do not match, a carriage return is not part of a line end, or a line is too long.
        FileFormatError
            The text is not UTF-8.
        """
        while True:
            line = self.n_lines + 1
            try:
                row = next(self._rows, None)
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise self._stray_return() from error
                raise MalformedRowError(
                    f"unmatched quotes from here on ({error}): {_QUOTES}", path=self._path, line=line
                ) from error
            if row is None:
                return
            if self._last.endswith((b"\r\r\n", b"\r\r")):
                raise self._stray_return()
            if any(row):
                yield line, row

    def misfit(self, row: list[str], line: int) -> MalformedRowError | None:
        """Return the error for a row that has more or fewer fields than the header."""
        if len(row) == len(self.header):
            return None
        expected, given = (self.separator.join(fields) for fields in (self.header, row))
        return MalformedRowError(
            allowed=f"{len(self.header)} fields ({expected})",
            given=Plain(f"{len(row)}: {shown(given)}"),
            path=self._path,
            line=line,
        )

    def _lines(self) -> Iterator[str]:
        longest = source.LONGEST_LINE
        first = [self._first] if self._first else []
        for raw in chain(first, iter(partial(self._file.readline, longest + 2), b"")):
            self.n_lines += 1
            self.n_bytes += len(raw)
            self._last = raw
            if len(raw) > longest:
                source.check_lines(raw, self._path, self.n_lines)
            yield decoded(raw.removeprefix(BOM) if self.n_lines == 1 else raw, self._path, self.n_lines)

    def _stray_return(self) -> MalformedRowError:
        return MalformedRowError(
            f"a carriage return inside a line, {LINE_ENDS}: {shown(self._last.decode())}",
            path=self._path,
            line=self.n_lines,
        )
