"""The rows of a CSV or TSV file by Python's csv module in strict mode, each with its line: slow but right."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from deadheat.core.errors import MalformedRowError
from deadheat.core.io import files
from deadheat.core.io.files import BOM, decode_utf8
from deadheat.core.io.ids import LINE_ENDS
from deadheat.core.wording import quote_text

LONGEST_HEADER = 1_000  # characters of a header that an error shows without a cut
# A first line such as "sep=;", which Excel writes and reads
SEPARATOR_LINE = re.compile(rb"""["']?sep=([;,\t|])["']?[;,\t|]*\s*""", re.IGNORECASE)


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
        self.separator = separator
        self.n_lines = 0
        self.n_bytes = 0
        self._file = file
        self._path = path
        self._last_line = b""
        self._allowed = ""  # what an error says of the header, made when the first one needs it
        self._first_line = self._read_line()
        separator_line = SEPARATOR_LINE.fullmatch(self._first_line.removeprefix(BOM))
        if separator_line is not None:
            self.separator = separator_line[1].decode()
            self.n_lines = 1
            self.n_bytes = len(self._first_line)
            self._first_line = b""
        # The limit is one for all readers of the process: it can only be made larger.
        csv.field_size_limit(max(csv.field_size_limit(), files.LONGEST_LINE))
        self._rows = csv.reader(self._decode_lines(), delimiter=self.separator, quoting=quoting, strict=True)
        self.header = self._read_header()

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
            row = self._read_row(line)
            if row is None:
                return
            if self._last_line.endswith((b"\r\r\n", b"\r\r")):
                raise self._make_stray_return_error()
            if any(row):
                yield line, row

    def misfit(self, row: list[str], line: int) -> MalformedRowError | None:
        """Return the error for a row that has more or fewer fields than the header; None if it has as many."""
        if len(row) == len(self.header):
            return None
        if not self._allowed:
            names = self.separator.join(self.header)
            if len(names) > LONGEST_HEADER:  # each row may be wrong, and a caller may keep all errors
                names = quote_text(names)
            self._allowed = f"{len(self.header)} fields ({names})"
        text = self.separator.join(row)
        return MalformedRowError(
            allowed=self._allowed, found=f"{len(row)}: {quote_text(text)}", path=self._path, line=line
        )

    def _read_header(self) -> list[str]:
        for _, row in self:
            return [name.strip() for name in row]
        return []

    def _read_row(self, line: int) -> list[str] | None:
        """Return the fields of the row that begins on a line; None at the end of the file."""
        try:
            return next(self._rows, None)
        except csv.Error as error:
            if "new-line character" in str(error):
                raise self._make_stray_return_error() from error
            raise MalformedRowError(
                f"unmatched quotes from here on ({error}): a field that begins with a quote must end with one, and"
                ' a quote inside it is doubled, ""',
                path=self._path,
                line=line,
            ) from error

    def _decode_lines(self) -> Iterator[str]:
        """Yield the text of each line, and count lines and bytes."""
        raw = self._first_line or self._read_line()
        while raw:
            self.n_lines += 1
            self.n_bytes += len(raw)
            self._last_line = raw
            if len(raw) > files.LONGEST_LINE:
                files.check_lines(raw, self._path, self.n_lines)
            text = raw.removeprefix(BOM) if self.n_lines == 1 else raw
            yield decode_utf8(text, self._path, self.n_lines)
            raw = self._read_line()

    def _read_line(self) -> bytes:
        """Return the next line; of one that is too long, so much that this shows."""
        return self._file.readline(files.LONGEST_LINE + 2)

    def _make_stray_return_error(self) -> MalformedRowError:
        text = quote_text(self._last_line.decode())
        problem = f"a carriage return inside a line, {LINE_ENDS}: {text}"
        return MalformedRowError(problem, path=self._path, line=self.n_lines)
