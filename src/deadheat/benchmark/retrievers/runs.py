"""Run files as a retriever."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import polars as pl

from deadheat.benchmark.collection import Collection
from deadheat.data.tables import Run, label_of
from deadheat.errors import DataError, DuplicateError, ParameterError
from deadheat.io.source import readable


class RunFile:
    """What a system found already, from run files; it is looked up by the ids of the cases.

    Parameters
    ----------
    *paths : path
        As for `read_run`: TREC, CSV, TSV, Parquet, JSON Lines, JSON. Several, such as one a language, are one run; a
        query may appear in only one of them.
    name : str, optional
        By default the files', without their format.

    Raises
    ------
    ParameterError
        There is no path.
    """

    def __init__(self, *paths: str | Path, name: str | None = None) -> None:
        if not paths:
            raise ParameterError(
                "needs the path of a run file, or of several, as in \"run('de.run', 'en.run')\"", argument="run"
            )
        self.paths = tuple(Path(readable(path)) for path in paths)
        self.name = name or "+".join(map(label_of, self.paths))

    def __repr__(self) -> str:
        return f"RunFile({', '.join(repr(str(path)) for path in self.paths)})"

    @property
    def key(self) -> dict[str, object]:
        """The content of the files."""
        return {"retriever": "run", "sha256": [hashlib.sha256(path.read_bytes()).hexdigest() for path in self.paths]}

    def index(self, documents: Collection) -> None:
        """Do nothing: the run holds what was found."""

    def search(self, texts: Sequence[str], k: int) -> NoReturn:  # noqa: ARG002 - as every retriever
        """Refuse: a run file knows ids of cases, not texts."""
        raise ParameterError(
            f"{self!r} knows what was found for the ids of {len(texts)} cases, not for their texts", hint="call look_up"
        )

    def look_up(self, query_ids: Sequence[str], *, of: str = "") -> pl.DataFrame:
        """Return query_id, doc_id and score of some cases; one that the run lacks has no row.

        Parameters
        ----------
        query_ids : sequence of str
        of : str, optional
            What errors call the cases.

        Raises
        ------
        DataError
            The run has none of the cases.
        """
        wanted = pl.DataFrame({"query_id": list(query_ids)}, schema={"query_id": pl.String})
        found = self._rows.join(wanted, on="query_id", how="semi", maintain_order="left")
        if found.is_empty():
            held = ", ".join(map(repr, self._rows["query_id"].unique(maintain_order=True).head(3).to_list()))
            whose = f"{len(query_ids)} cases{of and f' of {of}'}, such as {query_ids[0]!r}"
            hint = (
                "Are the ids written alike? A retriever needs a run of every set and language: give the run files of"
                f" all as one, as in \"run('de.run', 'en.run', name={self.name!r})\""
            )
            raise DataError(f"has none of the {whose}; it has {held}, ...", hint=hint, path=self._path)
        return found

    @property
    def _path(self) -> str:
        return ", ".join(map(str, self.paths))

    @cached_property
    def _rows(self) -> pl.DataFrame:
        frames: list[pl.DataFrame] = []
        owners: dict[str, Path] = {}
        for path in self.paths:
            run = Run(path, name=self.name)
            run.check_duplicates()
            rows = run.to_polars().select("query_id", "doc_id", "score")
            for query in rows["query_id"].unique(maintain_order=True).to_list():
                if query in owners:
                    raise DuplicateError(
                        f"has query {query!r}, as {owners[query]} has",
                        hint="in the files of one run each query may appear once",
                        path=path,
                    )
                owners[query] = path
            frames.append(rows)
        return pl.concat(frames)
