"""TREC runs that are larger than memory: read block by block where their rows are needed."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import narwhals as nw
import polars as pl

from deadheat.data.rows import UnreadRows
from deadheat.errors import DataError
from deadheat.io.files import BLOCK
from deadheat.io.formats.base import Content
from deadheat.io.formats.trec import Marked, note_of_comments, ranks_of_file, read_blocks
from deadheat.io.frames import Frame, Reading
from deadheat.io.kinds import TREC_FIELDS

ROW, FEWEST = 40, 1 << 20  # bytes: of a short row, and of the smallest block


def in_blocks(path: Path) -> Content:
    """Return a run whose rows are read where they are needed."""
    return Content(UnreadTrec(path), ranks=ranks_of_file(path))


class UnreadTrec(UnreadRows):
    """A run in a TREC file, compressed or not."""

    def __init__(self, path: Path) -> None:
        self._path, self._marked = path, Marked("run")
        self.reading, self.where, self.in_polars = Reading("run", "score"), str(path), True

    @cached_property
    def unchecked(self) -> Frame:
        """All rows, in memory."""
        return nw.from_native(pl.concat(self.batches(BLOCK // ROW)).lazy())

    def batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Yield the rows, block by block, about so many at a time."""
        self._marked = Marked("run")
        size, has_rows = min(BLOCK, max(FEWEST, n_rows * ROW)), False
        for frame in read_blocks(self._path, "run", self._marked, size):
            if len(frame):
                has_rows = True
                yield frame
        if not has_rows:
            raise DataError("run without a single row", allowed=" ".join(TREC_FIELDS["run"]), path=self._path)

    def notes(self) -> tuple[str, ...]:
        """Return a note on the comments that were skipped."""
        return note_of_comments(len(self._marked.comments), self._path)
