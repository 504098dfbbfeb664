"""Accumulator: an evaluation of matrices of scores that come batch by batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from deadheat.arguments import Rng, check_choice, generator, whole
from deadheat.errors import DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.dense import TIES, evaluation_of
from deadheat.evaluation.document import ENCODING, Kind, columns_of, packed
from deadheat.evaluation.evaluate import parse_measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores
from deadheat.measures.notation import MeasureLike
from deadheat.placements.dense import Counted, Ids, count_dense
from deadheat.wording import Plain, as_given, counted

REPEATED = ("error", "once")
SAVED = Kind("deadheat accumulator", 1, "the state of an accumulator", "Accumulator.save writes one")
TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "queries": {"query_id": pl.String, "n_retrieved": pl.Int64},
    "judged": {
        "query": pl.Int64,
        "doc_id": pl.String,
        "relevance": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    },
}
SUMMARY = ("mean", "mean_tie_std", "mean_tie_min", "mean_tie_max", "n_queries")


class Accumulator:
    """Take matrices of scores batch by batch, and give the evaluation of all of them at any time.

    Of each batch it keeps what was counted, some numbers for each judged document, and not the scores. So the result
    is that of one matrix with all queries, however they came: no mean of means, and conventions that look at all
    judgments (the highest relevance in ERR) see all of them.

    Parameters
    ----------
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`evaluate`.
    rng : int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip"}, default "zero"
        Every row is a query: one without a relevant document scores 0, or is left out of the mean.
    repeated : {"error", "once"}, default "error"
        What to do about a query that comes again: refuse it; or count it once if it has the same judgments and ranks,
        as where a distributed sampler fills up its last batch, and refuse it otherwise.
    name : str, default "scores"
        Label of the evaluation.

    Attributes
    ----------
    n_queries : int
        Queries so far.

    Examples
    --------
    >>> accumulator = Accumulator(["RR", "P@1"])
    >>> accumulator.add([[0.9, 0.5], [0.5, 0.5]], [[0], [1]])
    >>> accumulator.add([[0.1, 0.2, 0.3]], [[0]])
    >>> accumulator.means()
    {'RR': 0.6944444444444445, 'P@1': 0.5}
    >>> accumulator["RR"].mean_tie_std, accumulator["RR"].n_queries
    (0.08333333333333333, 3)
    """

    def __init__(
        self,
        measures: MeasureLike | Iterable[MeasureLike] | None = None,
        *,
        ties: str = "expected",
        rng: int | None = None,
        no_relevant: str = "zero",
        repeated: str = "error",
        name: str = "scores",
    ) -> None:
        check_choice("ties", ties, TIES)
        check_choice("repeated", repeated, REPEATED)
        self.measures = parse_measures(measures)
        self.conventions = Conventions(ties, no_relevant=no_relevant)
        self.repeated = repeated
        self.name = name
        self._rng: Rng = _seed(rng) if ties == "random" else None
        self._parts: list[Counted] = []
        self._places: dict[str, int] = {}  # the row of each query that has an id
        self.n_queries = 0
        self._is_numbered: bool | None = None
        self._evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        names = ", ".join(measure.label for measure in self.measures)
        return f"<Accumulator {self.name}: {counted(self.n_queries, 'query', 'queries')}, {names}>"

    def __len__(self) -> int:
        return self.n_queries

    def __contains__(self, query_id: object) -> bool:
        return str(query_id) in self._places

    def __getitem__(self, measure: MeasureLike) -> Scores:
        return self.evaluation()[measure]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluation": None}  # which is made again

    def add(
        self,
        scores: ArrayLike,
        relevant: object,
        *,
        exclude: object = None,
        mask: object = None,
        query_ids: ArrayLike | None = None,
        doc_ids: ArrayLike | None = None,
    ) -> None:
        """Take a batch: the scores of some queries, with all documents of each.

        Parameters
        ----------
        scores, relevant, exclude, mask, query_ids, doc_ids
            As for :func:`evaluate_dense`. Give `query_ids` with every batch or with none; without them queries are
            numbered as they come, and one that comes again is not noticed.

        Raises
        ------
        DuplicateError
            A query comes again.
        ParameterError, DataError, MissingDependencyError
            As for :func:`evaluate_dense`; the batch then counts for nothing.
        """
        found = count_dense(scores, relevant, exclude=exclude, mask=mask, query_ids=query_ids, doc_ids=doc_ids)
        self._take(found, "the batch", is_numbered=query_ids is None)

    def merge(self, *others: Accumulator) -> None:
        """Take what others have counted, such as those of other processes; they remain as they are.

        Parameters
        ----------
        *others : Accumulator
            With the same measures and conventions. Without query ids their queries are numbered after the own.

        Raises
        ------
        DataError
            One has other measures or conventions.
        DuplicateError
            A query is in two of them.
        """
        for other in others:
            if not isinstance(other, Accumulator):
                raise SourceTypeError(given=Plain(type(other).__name__), allowed="an Accumulator")
            where = f"the accumulator {other.name!r}"
            self._refuse_other(list(map(str, other.measures)), other.conventions, where)
            self._take(other._whole(), where, is_numbered=other._is_numbered)  # noqa: SLF001 - of its own class

    def save(self, path: str | Path) -> None:
        """Write the state to a file, which is complete at any time: an earlier state there is replaced when it is.

        Parameters
        ----------
        path : path
            Of the JSON file; another file than a state is not replaced.
        """
        whole, means = self._whole(), self.means() if self.n_queries else {}
        head = {
            "n_queries": self.n_queries,
            "means": {name: mean if math.isfinite(mean) else None for name, mean in means.items()},
            "measures": list(map(str, self.measures)),
            "conventions": asdict(self.conventions),
            "numbered": self._is_numbered,
        }
        SAVED.write(path, head, None if whole is None else _tables_of(whole))

    def resume(self, path: str | Path) -> None:
        """Take the state that `save` wrote, and go on from there.

        Parameters
        ----------
        path : path

        Raises
        ------
        DataError
            It was saved with other measures or conventions.
        DataError
            The file is missing, damaged or changed, or a query in it is already here.
        """
        measures, conventions, is_numbered, found = SAVED.read(path, _state_of)
        self._refuse_other(measures, conventions, str(path))
        self._take(found, str(path), is_numbered=is_numbered)

    def evaluation(self) -> Evaluation:
        """Return the evaluation of all queries so far: to print, compare, save, or check by a gate.

        Raises
        ------
        ParameterError
            There is no query yet.
        """
        if self._evaluation is None:
            whole = self._whole()
            if whole is None:
                raise ParameterError("the accumulator has no query yet", hint="give it a batch, accumulator.add(...)")
            self._evaluation = evaluation_of(whole, self.measures, self.conventions, self._rng, self.name)
        return self._evaluation

    def means(self) -> dict[str, float]:
        """Return the mean over all queries so far of each measure, by the name by which it was asked for."""
        return self.evaluation().means()

    def summary(self) -> pl.DataFrame:
        """Return measure, mean, tie_std, tie_min, tie_max (of the mean over tie orders), n_queries, n_without_relevant.

        The last says how many queries without a relevant document there are; they count as `no_relevant` says.
        """
        evaluation = self.evaluation()
        rows = [
            {"measure": scores.measure.label}
            | {name.removeprefix("mean_"): getattr(scores, name) for name in SUMMARY}
            | {"n_without_relevant": len(evaluation.without_relevant(scores.measure))}
            for scores in evaluation
        ]
        return pl.DataFrame(rows).with_columns(pl.col(pl.Float64).fill_nan(None))

    def _whole(self) -> Counted | None:
        if len(self._parts) > 1:
            self._parts = [Counted.joined(self._parts)]
        return self._parts[0] if self._parts else None

    def _refuse_other(self, measures: Sequence[str], conventions: Conventions, where: str) -> None:
        """Raise `DataError` for a state that was made with other measures or conventions."""
        own = {"measures": sorted(map(str, self.measures)), **asdict(self.conventions)}
        for name, given in {"measures": sorted(measures), **asdict(conventions)}.items():
            if given != own[name]:
                made = f"{where} was made with {name}={as_given(given)}"
                raise DataError(f"{made}, and this accumulator has {as_given(own[name])}")

    def _take(self, found: Counted | None, where: str, *, is_numbered: bool | None) -> None:
        """Take what was counted, or nothing of it if it does not fit."""
        if None not in {is_numbered, self._is_numbered} and is_numbered != self._is_numbered:
            raise DataError(
                f"{where} and this accumulator cannot be told apart: only one of them has query ids",
                hint="give query_ids= with every batch, or with none",
            )
        if found is None:
            return
        if is_numbered:
            found = replace(found, query_ids=Ids(None, len(found.query_ids), "").all(self.n_queries))
        else:
            found = self._new_of(found, where)
            self._places |= {query: row for row, query in enumerate(found.query_ids.tolist(), self.n_queries)}
        self._parts.append(found)
        self.n_queries += len(found.query_ids)
        self._is_numbered, self._evaluation = is_numbered, None

    def _new_of(self, found: Counted, where: str) -> Counted:
        """Return the queries that are not here yet; raise for one that may not come again."""
        query_ids = found.query_ids.tolist()
        for row, query in enumerate(query_ids):
            if query in self._places and (whole := self._whole()) is not None:
                problem = f"{where} has the query {query!r}, which was here before"
                if self.repeated == "error":
                    raise DuplicateError(problem, hint="repeated='once' counts it once, if its ranks are the same")
                if found.rows_of(row) != whole.rows_of(self._places[query]):
                    raise DuplicateError(f"{problem} with other ranks")
        return found.select(np.array([query not in self._places for query in query_ids], np.bool_))


def _seed(rng: int | None) -> Rng:
    """Return a seed, with which the same order is drawn for the same queries whenever means are asked for."""
    if rng is not None and whole(rng) is None:
        raise ParameterError(argument="rng", given=rng, allowed="a whole number from 0 on, or None")
    generator(rng)  # checks it
    return int(np.random.default_rng().integers(2**63)) if rng is None else rng


def _tables_of(counted: Counted) -> dict[str, str]:
    columns = {one.name: getattr(counted, one.name) for one in fields(Counted)}
    columns |= {"query_id": counted.query_ids.tolist(), "doc_id": counted.doc_ids.tolist()}
    tables = {name: packed({one: columns[one] for one in schema}, schema) for name, schema in TABLES.items()}
    return {"encoding": ENCODING, **tables}


def _state_of(document: dict[str, Any]) -> tuple[list[str], Conventions, bool | None, Counted | None]:
    """Return the measures, the conventions, whether queries are numbered, and what was counted."""
    data = document["data"]
    counted = None if data is None else Counted(**columns_of(data["queries"]), **columns_of(data["judged"]))
    return list(document["measures"]), Conventions(**document["conventions"]), document["numbered"], counted
