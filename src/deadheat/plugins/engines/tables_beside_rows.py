"""Small tables of this process, put where the rows of a run are: DuckDB joins them there."""

from __future__ import annotations

import narwhals as nw

from deadheat.core.io.lazy import Frame
from deadheat.core.libraries import polars as pl


def put_beside(rows: Frame, table: pl.DataFrame) -> Frame | None:
    """Return a table as a frame of the connection that some rows are in; None where these are not in DuckDB.

    Parameters
    ----------
    rows : narwhals.LazyFrame
    table : polars.DataFrame
    """
    if not rows.implementation.is_duckdb():
        return None
    import duckdb

    columns = table.to_arrow()  # noqa: F841 - DuckDB finds it by its name, and keeps it
    try:
        relation = rows.to_native().query("rows_of_run", "select * from columns")
    except duckdb.Error:  # a connection may be set to see no variables of Python
        return None
    return nw.from_native(relation).lazy()
