"""How the rows of a table are stored: as a dict of dicts, as a frame in memory, or in their own engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import polars as pl

from deadheat.arrays import FloatArray
from deadheat.data.blocks import Blocks, blocks_of, may_repeat
from deadheat.io.kinds import Kind
from deadheat.io.mappings import Nested, all_numbers, frame_of_mapping

if TYPE_CHECKING:
    import narwhals as nw


class Rows(ABC):
    """Checked rows of (query_id, doc_id, number), and what every kind of storage can do with them.

    Attributes
    ----------
    in_polars : bool
        Whether Polars can take them in their order; else they are in another engine, which may have no order.
    blocks : Blocks or None
        The rows as blocks, if they are in memory and grouped by query.
    """

    in_polars: bool = True
    blocks: Blocks | None = None

    @abstractmethod
    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, in the order of the source."""

    @cached_property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows as a lazy Narwhals frame, in their engine."""
        import narwhals as nw  # only joins need it

        return nw.from_native(self.to_polars().lazy())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        nested: dict[str, dict[str, float]] = {}
        for query, doc, value in self.to_polars().iter_rows():
            nested.setdefault(query, {})[doc] = value
        return nested

    def some_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return list(self.lazy.select("doc_id").head(size).collect(backend="polars")["doc_id"].to_list())

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return query_id, doc_id and count of the pairs that occur more than once; None where none can."""
        from deadheat.io.frames import repeated_pairs

        return repeated_pairs(self.lazy)


@dataclass(frozen=True, eq=False)
class MappingRows(Rows):
    """A dict of dicts; a frame is built only when asked for.

    Attributes
    ----------
    mapping : dict of dict
        ``{query_id: {doc_id: number}}``, without queries that have no document, as rows have none of these either.
    kind : {"qrels", "run"}
    where : str
        For messages.
    """

    mapping: Nested
    kind: Kind
    where: str

    @cached_property
    def _frame(self) -> pl.DataFrame:
        return frame_of_mapping(self.mapping, self.kind, self.where)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, built once."""
        return self._frame

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return a copy of the dicts."""
        return {query: dict(documents) for query, documents in self.mapping.items()}

    def numbers(self, queries: Sequence[str]) -> FloatArray:
        """Return the checked numbers of the given queries, concatenated in the order of the dicts."""
        return all_numbers(self.mapping, queries, self.kind, self.where)

    def some_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return list(islice(chain.from_iterable(self.mapping.values()), size))

    def repeated_pairs(self) -> None:
        """Return None: a dict cannot hold a key twice."""


@dataclass(frozen=True, eq=False)
class MemoryRows(Rows):
    """A frame in memory.

    Attributes
    ----------
    frame : polars.DataFrame
    """

    frame: pl.DataFrame

    @cached_property
    def blocks(self) -> Blocks | None:  # type: ignore[override]  # of each instance, not of the class
        """The rows as blocks, if they are grouped by query."""
        return blocks_of(self.frame)

    def to_polars(self) -> pl.DataFrame:
        """Return the frame."""
        return self.frame

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return the pairs that occur more than once; hashes usually show that none does."""
        return None if self.blocks and not may_repeat(self.blocks) else super().repeated_pairs()


class LazyRows(Rows):
    """A frame that stays in its engine until its rows are needed.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    """

    def __init__(self, frame: nw.LazyFrame[Any]) -> None:
        self.lazy = frame
        self.in_polars = bool(frame.implementation.is_polars())

    def to_polars(self) -> pl.DataFrame:
        """Fetch them."""
        from deadheat.io.frames import collect

        return collect(self.lazy)
