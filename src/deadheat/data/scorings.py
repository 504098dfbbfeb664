"""Many scorings of one collection: a table with the documents of each query, and one column of scores for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from deadheat.arrays import FloatArray
from deadheat.data.tables import LOWER_FIRST, Qrels, Run, Source, Table, label_of, path_of
from deadheat.errors import ColumnError, ParameterError, SourceTypeError
from deadheat.io.folders import file_in
from deadheat.io.guarding import guarded
from deadheat.io.kinds import KEYS, check_given
from deadheat.io.score_columns import of_file, of_frame

MOST = 10_000  # columns that are evaluated without being named: a column takes about a millisecond


class Scorings:
    """A table with one score a column.

    Parameters
    ----------
    source : path or dataframe
        CSV, TSV, Parquet, JSON Lines or LETOR (SVMlight), or a dataframe that Narwhals takes.
    columns : sequence of str, optional
        The columns of scores; by default all columns of numbers but for ids, relevance and ranks.
    names : dict of str to str, optional
        Names of other columns that are not recognised, such as ``{"doc_id": "hit"}``.
    ascending : bool, default False
        Lower scores rank first.
    format : str, optional
        Format of the file, if its name does not say.

    Attributes
    ----------
    where : str
        Where the rows come from, for messages.
    ids : polars.DataFrame
        query_id and doc_id.
    scores : dict of str to ndarray of float, shape (n_rows,)
        Higher ones rank first.
    qrels : Qrels or None
        The judgments that a LETOR file holds too.
    notes : tuple of str
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[str] | None = None,
        *,
        names: Mapping[str, str] | None = None,
        ascending: bool = False,
        format: str | None = None,  # noqa: A002 - the word that users look for
    ) -> None:
        if isinstance(source, Table):
            raise SourceTypeError(given=source, allowed="a path or a dataframe with one score a column")
        asked, given = _asked(columns), check_given(names or {})
        path = path_of(source)
        if path is not None and path.is_dir():
            path = file_in(path, "run")[0]
        self.where = str(path) if path else "the table"
        with guarded(self.where):
            found = of_file(path, asked, given, format) if path else of_frame(source, asked, given, self.where)
        if asked is None and len(found.scores) > MOST:
            problem = f"{len(found.scores):,} columns of scores are too many to evaluate all"
            hint = "name some of them (columns=, --score-columns)"
            raise ColumnError(problem, allowed=f"{MOST:,} or fewer", hint=hint, path=path or self.where)
        self._path, self._given = path, given
        self.ids = found.ids
        self.scores: dict[str, FloatArray] = {
            name: 0.0 - scores if ascending else scores for name, scores in found.scores.items()
        }
        self.notes = (*found.notes, *([LOWER_FIRST] if ascending else []))
        self.qrels: Qrels | None = None
        if found.relevance is not None and path is not None:
            self.qrels = Qrels.of_checked(found.ids.with_columns(relevance=found.relevance), label_of(Path(path)))
            self.qrels.path = path

    def check_duplicates(self) -> None:
        """Raise `DuplicateError` if a (query, document) pair is repeated."""
        first = next(iter(self.scores))
        table: Table = self.qrels or self.run(first)
        if self.qrels is None:
            table.name, table.path, table.columns = self.where, self._path, {**self._given, "score": first}
        table.check_duplicates()

    def run(self, name: str, scores: FloatArray | None = None) -> Run:
        """Return one of the scorings as a run; `scores` are other ones of the same documents, such as rounded ones."""
        frame = self.ids.select(KEYS).with_columns(score=pl.Series(self.scores[name] if scores is None else scores))
        return Run.of_checked(frame, name).noted(self.notes)


def _asked(columns: Sequence[str] | None) -> Sequence[str] | None:
    if columns is None:
        return None
    given = [columns] if isinstance(columns, str) else list(columns)
    if not given or not all(isinstance(name, str) for name in given):
        raise ParameterError(argument="columns", given=columns, allowed="names of columns, as text, or None for all")
    return given
