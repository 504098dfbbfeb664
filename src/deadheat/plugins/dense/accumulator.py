"""Accumulator: matrices of scores taken batch by batch, merged, saved, and evaluated at any time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.core.checks import as_text, check_choice
from deadheat.core.data.renderable import make_frame
from deadheat.core.errors import DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.libraries import polars as pl
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import as_integer
from deadheat.core.settings import Conventions
from deadheat.core.wording import escape_invisible, format_count, format_given
from deadheat.plugins.dense.counting import Counted, count_dense, ids_at
from deadheat.plugins.dense.evaluating import TIES, depth_of_lists, evaluation_of_counted
from deadheat.plugins.dense.saved_state import STATE, state_of, tables_of

REPEATED = ("error", "once")
OF_TIES = ("tie_std", "tie_min", "tie_max")


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
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
    repeated : {"error", "once"}, default "error"
        What to do about a query that comes again: refuse it; or count it once if it has the same judgments and ranks,
        as where a distributed sampler fills up its last batch, and refuse it otherwise.
    items : bool or int, default False
        As for :func:`evaluate_dense`; every batch has the same documents then.
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
        items: bool | int = False,
        name: str = "scores",
    ) -> None:
        check_choice("ties", ties, TIES)
        check_choice("repeated", repeated, REPEATED)
        self.measures = parse_measures(measures)
        self.conventions = Conventions.of(locals())
        self.repeated = repeated
        self._depth = depth_of_lists(self.measures, items=items)
        self.name = as_text("name", name)
        self._rng: Rng = _seed(rng) if ties == "random" else None
        self._parts: list[Counted] = []
        self._places: dict[str, int] = {}  # the row of each query that has an id
        self.n_queries = 0
        self._is_numbered: bool | None = None
        self._evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        names = ", ".join(measure.label for measure in self.measures)
        return escape_invisible(
            f"<Accumulator {self.name}: {format_count(self.n_queries, 'query', 'queries')}, {names}>"
        )

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
        self._take(
            count_dense(
                scores, relevant, exclude=exclude, mask=mask, query_ids=query_ids, doc_ids=doc_ids, depth=self._depth
            ),
            "the batch",
            is_numbered=query_ids is None,
        )

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
                raise SourceTypeError(found=type(other).__name__, allowed="an Accumulator")
            where = f"the accumulator {other.name!r}"
            self._refuse_other(list(map(str, other.measures)), other.conventions, other._depth, where)  # noqa: SLF001 - of its own class
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
            "items": self._depth,
        }
        STATE.write(path, head, None if whole is None else tables_of(whole))

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
        measures, conventions, is_numbered, depth, found = STATE.read(path, state_of)
        self._refuse_other(measures, conventions, depth, str(path))
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
            self._evaluation = evaluation_of_counted(whole, self.measures, self.conventions, self._rng, self.name)
        return self._evaluation

    def means(self) -> dict[str, float]:
        """Return the mean over all queries so far of each measure, as :meth:`Evaluation.means`."""
        return self.evaluation().means()

    def summary(self) -> pl.DataFrame:
        """Return measure, mean, tie_std, tie_min, tie_max (of the mean over tie orders), n_queries, n_without_relevant.

        Of a count, mean is the total, and the others are of the total. The last column says how many queries without a
        relevant document there are; they count as `no_relevant` says.
        """
        evaluation = self.evaluation()
        rows = []
        for scores in evaluation:
            row: dict[str, object] = {"measure": scores.measure.label, "mean": scores.reported()}
            for of_ties in OF_TIES:
                row[of_ties] = scores.reported(of_ties)
            row["n_queries"] = scores.n_queries
            row["n_without_relevant"] = len(evaluation.without_relevant(scores.measure))
            rows.append(row)
        return make_frame(rows)

    def _whole(self) -> Counted | None:
        if len(self._parts) > 1:
            self._parts = [Counted.joined(self._parts)]
        return self._parts[0] if self._parts else None

    def _refuse_other(self, measures: Sequence[str], conventions: Conventions, depth: int | None, where: str) -> None:
        """Raise `DataError` for a state that was made with other measures or conventions."""
        own = {"measures": sorted(map(str, self.measures)), "items": self._depth, **asdict(self.conventions)}
        for name, given in {"measures": sorted(measures), "items": depth, **asdict(conventions)}.items():
            if given != own[name]:
                raise DataError(
                    f"{where} was made with {name}={format_given(given)}, and this accumulator has"
                    f" {format_given(own[name])}"
                )

    def _take(self, found: Counted | None, where: str, *, is_numbered: bool | None) -> None:
        """Take what was counted, or nothing of it if it does not fit."""
        if None not in {is_numbered, self._is_numbered} and is_numbered != self._is_numbered:
            raise DataError(
                f"{where} and this accumulator cannot be told apart: only one of them has query ids",
                hint="give query_ids= with every batch, or with none",
            )
        if found is None:
            return
        first = self._parts[0].lists if self._parts else None
        if found.lists is not None and first is not None and not np.array_equal(found.lists.doc_ids, first.doc_ids):
            raise DataError(
                f"{where} has other documents than the batches before: with items=True every batch has the same",
                hint="give the same columns, in the same order, and the same doc_ids",
            )
        if is_numbered:
            numbers = ids_at(None, np.arange(self.n_queries, self.n_queries + len(found.query_ids)))
            found = replace(found, query_ids=numbers, lists=found.lists and found.lists.renamed(numbers))
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
    if rng is not None and as_integer(rng) is None:
        raise ParameterError(argument="rng", given=rng, allowed="a whole number from 0 on, or None")
    random_generator(rng)  # checks it
    return int(np.random.default_rng().integers(2**63)) if rng is None else rng
