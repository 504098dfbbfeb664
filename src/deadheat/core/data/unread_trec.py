"""Runs in TREC files that are larger than memory, which are read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.errors import DataError
from deadheat.core.io.files import BLOCK, FileState
from deadheat.core.io.formats.trec import MarkedLines, note_comments, read_blocks
from deadheat.core.io.kinds import TREC_FIELDS
from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    import narwhals as nw

BYTES_OF_ROW = 40  # bytes of a short row of TREC
MIN_BLOCK = 1 << 20  # bytes of a file that are read at once, at least


class UnreadTrec(UnreadRows):
    """A run in a TREC file, compressed or not, that is larger than memory: it is read block by block."""

    def __init__(self, path: Path) -> None:
        from deadheat.core.io.lazy import Reading  # which needs Narwhals

        self._path = path
        self._marked = MarkedLines("run")
        self.file = FileState.of(path)
        self.reading = Reading("run", "score")
        self.where = str(path)
        self.in_polars = True

    @cached_property
    def unchecked(self) -> nw.LazyFrame[Any]:
        """All rows, in memory."""
        import narwhals as nw

        return nw.from_native(pl.concat(self.batches(BLOCK // BYTES_OF_ROW)).lazy())

    def batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Yield the rows in their order, about `n_rows` at a time."""
        self.check_file()
        self._marked = MarkedLines("run")
        size = min(BLOCK, max(MIN_BLOCK, n_rows * BYTES_OF_ROW))
        has_rows = False
        for frame in filter(len, read_blocks(self._path, "run", self._marked, size)):
            has_rows = True
            yield frame
        self.check_file()
        if not has_rows:
            raise DataError("run without a single row", allowed=" ".join(TREC_FIELDS["run"]), path=self._path)

    def count_rows(self) -> None:
        """Return None: the rows of a file of text are known at its end."""
        return

    def notes(self) -> tuple[str, ...]:
        """Return notes on the rows that were read, and on the comments that were skipped."""
        return (*super().notes(), *note_comments(len(self._marked.comments), self._path))
