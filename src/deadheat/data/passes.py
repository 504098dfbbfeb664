"""A pass over a run that is not in memory: what is done with the rows of some queries, and how it is said.

Wherever the rows are (a cluster, a large file), those of whole queries come together, are read and checked, rounded,
looked through for repeated pairs, and given to a task, all in this pass. What is said of them is one table.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from deadheat.data.precision import ScorePrecision, round_and_warn
from deadheat.data.rows import Blocks, MemoryRows
from deadheat.data.tables import Run

if TYPE_CHECKING:
    from deadheat.io.reading import Reading, WrongRows

ROWS, BAD, BEYOND, INFINITE, REPEATED = "rows", "bad", "beyond", "infinite", "repeated"  # what every pass may say
QUERY = "query"  # what is said once of each query, if anything is
SCHEMA: dict[str, type[pl.DataType]] = {
    "what": pl.String,
    "query_id": pl.String,
    "doc_id": pl.String,
    "value": pl.Float64,
    "above": pl.Int64,
    "tied": pl.Int64,
}
"""The columns of all that is said; `what` tells what a row is."""


NO_JUDGMENTS = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64})


Task: TypeAlias = "Callable[[Blocks, pl.DataFrame], list[pl.DataFrame]]"
"""What is done with the rows of some queries and judgments, which may be of other queries too: tables made by `said`.

It may travel to a worker, so it is small.
"""


def said(what: str, **columns: object) -> pl.DataFrame:
    """Return rows in the columns of `SCHEMA`; those that are not given are null."""
    given = pl.DataFrame(columns)
    return given.select(
        pl.lit(what).alias(name)
        if name == "what"
        else pl.col(name).cast(dtype)
        if name in columns
        else pl.lit(None, dtype).alias(name)
        for name, dtype in SCHEMA.items()
    )


@dataclass(frozen=True)
class Look:
    """How the rows of some queries are read, and what is done with them.

    Attributes
    ----------
    reading : Reading
    task : Task
    precision : str, int or None
        To which the scores are rounded.
    check_duplicates : bool
    where : str
        Where the rows are from, for messages.
    """

    reading: Reading
    task: Task
    precision: ScorePrecision
    check_duplicates: bool
    where: str

    def __call__(self, frame: pl.DataFrame, judgments: Callable[[pl.Series], pl.DataFrame]) -> list[pl.DataFrame]:
        """Return what there is to say of the rows of some queries.

        Parameters
        ----------
        frame : polars.DataFrame
        judgments : callable
            Takes the ids of queries, and returns their judgments, with or without those of others.
        """
        import narwhals as nw

        from deadheat.io.reading import readable

        with readable(self.where):
            rows, wrong = self.reading.in_polars(nw.from_native(frame.lazy()))
        found = list(_tell(wrong))
        if wrong.n_without_id or wrong.n_bad or wrong.beyond is not None or not wrong.n_rows:
            return found
        scores = rows["score"].to_numpy()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stored = round_and_warn(scores, self.precision)
        if caught:
            beyond = pl.Series(stored).is_infinite() & rows["score"].is_finite()
            found.append(said(INFINITE, value=[rows["score"].filter(beyond).max()]))
        memory = MemoryRows(rows if stored is scores else rows.with_columns(score=pl.Series(stored)))
        blocks = memory.blocks
        if self.check_duplicates and (repeated := memory.repeated_pairs()) is not None and len(repeated):
            return [*found, said(REPEATED, **repeated.rename({"n": "above"}).to_dict())]
        return [*found, *self.task(blocks, judgments(blocks.query_ids))]


def _tell(wrong: WrongRows) -> Iterator[pl.DataFrame]:
    yield said(ROWS, above=[wrong.n_rows], tied=[wrong.n_without_id])
    if wrong.bad is not None:
        query, doc, value = wrong.bad
        yield said(BAD, query_id=[query], doc_id=[doc], value=[value], above=[wrong.n_bad])
    if wrong.beyond is not None:
        yield said(BEYOND, doc_id=[wrong.beyond])


def check_said(found: pl.DataFrame, run: Run, reading: Reading, precision: ScorePrecision) -> None:
    """Raise for wrong rows and repeated pairs; warn of scores that rounding made infinite."""
    from deadheat.io.reading import WrongRows, add_up

    parts = [WrongRows(n_rows, n_without_id) for n_rows, n_without_id in of_kind(found, ROWS, "above", "tied").rows()]
    bad = of_kind(found, BAD, "above", "query_id", "doc_id", "value")
    parts += [WrongRows(0, 0, n_bad, (query, doc, value)) for n_bad, query, doc, value in bad.rows()]
    parts += [WrongRows(0, beyond=beyond) for (beyond,) in of_kind(found, BEYOND, "doc_id").rows()]
    reading.check(add_up(parts), run.where)
    repeated = of_kind(found, REPEATED, "query_id", "doc_id", "above")
    if len(repeated):
        raise run.duplicate(repeated.sort("query_id", "doc_id"))
    infinite = of_kind(found, INFINITE, "value").to_series()
    if len(infinite):
        round_and_warn(infinite.sort().tail(1).to_numpy(), precision)


def of_kind(found: pl.DataFrame, what: str, *columns: str) -> pl.DataFrame:
    """Return some columns of the rows that say one thing."""
    return found.filter(pl.col("what") == what).select(*columns)
