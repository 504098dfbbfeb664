"""A run cut into parts as Spark would cut it, in this process: its workers' code needs neither Spark nor Java."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import polars as pl
import pyarrow as pa

import deadheat as dh
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io.lazy import Reading
from deadheat.core.placements.passes import result_schema

_OF_ARROW = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64())
AS_SAID = pa.schema(list(zip(result_schema(), _OF_ARROW, strict=True)))


@dataclass(frozen=True)
class Parts:
    """As much of a frame of Spark as a pass calls; Narwhals, which leads to it, has all rows in Polars."""

    parts: tuple[pa.Table, ...]

    def to_native(self) -> Self:
        return self

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what Narwhals has
        return getattr(nw.from_native(pl.concat([pl.DataFrame(part) for part in self.parts]).lazy()), name)

    def repartition(self, column: str) -> Parts:
        """Bring the rows of each query together, a few queries to a part and none to some."""
        rows = pl.concat([pl.DataFrame(part) for part in self.parts])
        place = rows[column].hash(7) % 5
        return Parts(tuple(rows.filter(place == n).to_arrow() for n in range(6)))

    def mapInArrow(self, work: Callable[[Iterable[Any]], Iterator[Any]], _: str) -> Parts:  # noqa: N802 - Spark's
        said = [pa.Table.from_batches(found) for part in self.parts if (found := list(work(part.to_batches())))]
        return Parts(tuple(said))

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's
        return pa.concat_tables([pl.DataFrame(schema=result_schema()).to_arrow().cast(AS_SAID), *self.parts])


class UnreadParts(UnreadRows):
    """Rows without an order, as those of Spark; the frame they are in is one of Polars all the same."""

    def __init__(self, *given: Any) -> None:  # noqa: ANN401 - as those of its base
        super().__init__(*given)
        self.in_polars = False


def cut(rows: pl.DataFrame, *, value: str = "score") -> dh.Run:
    """Return a run whose rows are in parts, those of a query in any of them and in any order."""
    shuffled = rows.sample(fraction=1, shuffle=True, seed=4)
    parts = tuple(shuffled.gather_every(3, n).to_arrow() for n in range(3))
    found = dh.Run({"q": {"d": 1.0}}, name="run")
    found.rows = UnreadParts(Parts(parts), Reading("run", value), "run")
    return found
