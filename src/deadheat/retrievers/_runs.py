"""A run file as a retriever."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polars as pl

from deadheat.data import Run, label_of
from deadheat.errors import NoCommonQueryError, ParameterError
from deadheat.io.source import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.collection import Collection


class RunFile:
    """What a system found already, from a run file; it is looked up by the ids of the cases.

    Parameters
    ----------
    path : path
        As for `read_run`: TREC, CSV, TSV, Parquet, JSON Lines, JSON.
    name : str, optional
        By default the file's, without its format.
    """

    def __init__(self, path: str | Path, *, name: str | None = None) -> None:
        self.path = Path(readable(path))
        self.name = name or label_of(self.path)

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r})"

    @property
    def key(self) -> dict[str, object]:
        """The content of the file."""
        return {"retriever": "run", "sha256": hashlib.sha256(self.path.read_bytes()).hexdigest()}

    def index(self, documents: Collection) -> None:
        """Do nothing: the run holds what was found."""

    def search(self, texts: Sequence[str], k: int) -> NoReturn:  # noqa: ARG002 - as every retriever
        """Refuse: a run file knows ids of cases, not texts."""
        msg = f"{self!r} knows what was found for the ids of {len(texts)} cases, not for their texts: call look_up"
        raise ParameterError(msg)

    def look_up(self, query_ids: Sequence[str]) -> pl.DataFrame:
        """Return query_id, doc_id and score of some cases; one that the run lacks has no row."""
        wanted = pl.DataFrame({"query_id": list(query_ids)}, schema={"query_id": pl.String})
        found = self._rows.join(wanted, on="query_id", how="semi", maintain_order="left")
        if found.is_empty():
            held = ", ".join(map(repr, self._rows["query_id"].unique(maintain_order=True).head(3).to_list()))
            msg = (
                f"has none of the {len(query_ids)} cases, such as {query_ids[0]!r}; it has {held}, ..."
                " Are the ids written alike? A run file needs all sets of cases and languages that it is evaluated on"
            )
            raise NoCommonQueryError(msg, path=self.path)
        return found

    @cached_property
    def _rows(self) -> pl.DataFrame:
        run = Run(self.path, name=self.name)
        run.check_duplicates()
        return run.to_polars().select("query_id", "doc_id", "score")
