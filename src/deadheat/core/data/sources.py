"""What a table is read from: a path and its label, or an object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from deadheat.core import hooks
from deadheat.core.io.files import check_path, is_in_catalogue

Source: TypeAlias = object
"""What qrels and runs are read from: a path, dicts, rows, a frame of any library.

No type says more than `object` does: frames of a dozen libraries share no base, and are known by what they hold. An
object of deadheat or of a plugin that is given in their place is known by the protocol that it fulfils: `JudgesRuns`
(qrels for each run), `System` (several runs of one system), `GivesQrels` (rows of qrels).
"""


def as_path(source: Source) -> Path | None:
    """Return a source as a path, or None if it is not one."""
    if isinstance(source, str | os.PathLike) and not is_in_catalogue(source):
        return check_path(os.fsdecode(source))
    return None


def find_run_column(source: Source, where: str) -> str | None:
    """Return the column of a table that tells several runs of one system apart; None if it has none, or is no table.

    Parameters
    ----------
    source : path, dataframe, or rows as dicts or named tuples
    where : str
        For messages.
    """
    path = as_path(source)
    if path is None and isinstance(source, Mapping):
        return None
    for column in hooks.list_run_columns():
        if path is not None:
            from deadheat.core.io.formats import has_column  # dicts need no formats of files

            if has_column(path, column):
                return column
            continue
        from deadheat.core.io.frames import find_table, list_columns  # they need Narwhals

        if column in list_columns(find_table(source, where), where):
            return column
    return None


def make_label(path: Path) -> str:
    """Return the label of a file, its name without the format: ``bm25`` for ``bm25.run.gz``."""
    from deadheat.core.io.formats import COMPRESSED, SUFFIXES  # dicts need no formats of files

    name = path.name
    for suffix in (*COMPRESSED, *SUFFIXES, ".xlsx", ".eval"):
        name = name.removesuffix(suffix)
    return name or path.name or path.resolve().name
