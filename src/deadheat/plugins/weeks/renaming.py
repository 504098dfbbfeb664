"""Rankings with other ids of documents, where those of the judgments have changed."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.errors import ColumnError, DataError, ParameterError
from deadheat.core.io.files import check_path
from deadheat.core.io.records import Wanted, as_text, as_written, read_records
from deadheat.core.placements.top_rows import TopRows
from deadheat.core.structures import copy_with

COLUMNS = ("old", "new")
RENAMED_IDS = Wanted(what="renamed ids", expected="a list of objects with old and new", number=as_written)


def rename_documents(run: Run, ids: Mapping[str, str] | str | Path) -> Run:
    """Return a ranking with other ids of documents.

    Parameters
    ----------
    run : Run
    ids : mapping of str to str, or path
        The new id of each old one: of a file the columns old and new.

    Raises
    ------
    DataError
        An id is not there, has two new ones, or none of them is in the ranking.
    """
    path: Path | None = None
    if isinstance(ids, Mapping):
        pairs = _tabulate_pairs(ids)
    elif isinstance(ids, str | Path):
        path = check_path(ids)
        pairs = _read_pairs(path)
    else:
        raise ParameterError(argument="ids", given=ids, allowed="a dict of old id to new, or the path of a table")
    _check_pairs(pairs, path)
    frame = run.to_polars()
    n_found = len(pairs.filter(pairs["old"].is_in(frame["doc_id"].implode())))
    if not n_found:
        raise DataError(
            f"none of the {len(pairs):,} old ids is in the ranking of {run.name}",
            hint="each row has the id in the ranking first, then that in the qrels",
            path=path,
        )
    new_id = pl.col("doc_id").replace(pairs["old"], pairs["new"])
    frame = frame.with_columns(new_id)
    rows: MemoryRows = MemoryRows(frame)
    if isinstance(run.rows, TopRows):
        rows = TopRows(frame, run.rows.queries, run.rows.depth)
    failures = run.failures
    if failures is not None:
        failures = failures.with_columns(new_id)
    note = f"documents renamed in the ranking: {n_found:,} of {len(pairs):,}"
    renamed_run = copy_with(run, rows=rows, failures=failures, notes=(*run.notes, note))
    renamed_run.check_duplicates()
    return renamed_run


def _tabulate_pairs(ids: Mapping[str, str]) -> pl.DataFrame:
    """Return old and new ids as a table of texts."""
    old_ids = [as_text(old_id) for old_id in ids]
    new_ids = [as_text(new_id) for new_id in ids.values()]
    return pl.DataFrame([old_ids, new_ids], schema=dict.fromkeys(COLUMNS, pl.String))


def _read_pairs(path: Path) -> pl.DataFrame:
    """Read old and new ids from a file; rows that are there twice count once."""
    table = read_records(path, wanted=RENAMED_IDS).frame
    if not set(COLUMNS) <= set(table.columns):
        raise ColumnError(given=", ".join(table.columns), allowed="columns old and new", path=path)
    return table.select(pl.col(COLUMNS).cast(pl.String)).unique(maintain_order=True)


def _check_pairs(pairs: pl.DataFrame, path: Path | None) -> None:
    """Raise `DataError` if an old id has two new ones, or an id is missing or empty."""
    is_empty = pl.any_horizontal(pl.col(COLUMNS).fill_null("") == "")
    wrong = pairs.filter(pairs["old"].is_duplicated() | is_empty)
    if len(wrong):
        raise DataError(
            "renames an id twice, or lacks one",
            found=", ".join(f"{old!r}: {new!r}" for old, new in wrong.head(3).rows()),
            allowed="one new id of each",
            path=path,
        )
